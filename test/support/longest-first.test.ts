import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LONGEST } from './longest-first.ts';

test('every file in LONGEST exists', () => {
  expect(LONGEST.filter((file) => !existsSync(file))).toEqual([]);
});
