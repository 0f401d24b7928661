import { expect, test } from 'vitest';
import { insertedName } from './inserted-routes.ts';

test.each([
  ['dynamic-environment-team-a-cart-0123456789', 'dynamic-environment-team-a-cart'],
  ['dynamic-environment-x-abcdefabcd', 'dynamic-environment-x'],
  ['dynamic-environment-team-a-cart', undefined],
  ['dynamic-environment-team-a-cart-012345678', undefined],
  ['dynamic-environment-team-a-cart-012345678G', undefined],
  ['dynamic-environment-team-a-cart-0123456789a', undefined],
  ['dynamic-environment--0123456789', undefined],
  ['main', undefined],
  ['', undefined],
  [undefined, undefined],
])('insertedName of route %s is %s', (name, inserted) => {
  expect(insertedName(name)).toBe(inserted);
});
