import { expect, test } from 'vitest';
import { isLoopback, isNamed } from './hosts.ts';

test.each(['127.0.0.1', '127.0.0.1:7444', 'localhost:1', '[::1]:8080', 'LOCALHOST'])(
  'isLoopback accepts %s',
  (host) => {
    expect(isLoopback(host)).toBe(true);
  },
);

test.each([
  undefined,
  '',
  '127.0.0.1.evil.example',
  'localhost.evil:80',
  'evil@127.0.0.1',
  '127.0.0.1:80:80',
  '127.0.0.1 ',
])('isLoopback rejects %j', (host) => {
  expect(isLoopback(host)).toBe(false);
});

test('isNamed matches a name without a port on all ports, and one with a port on that port only', () => {
  const names = ['dash.example', 'other.example:8443'];
  expect(['dash.example', 'Dash.Example:443', 'other.example:8443'].every((each) => isNamed(each, names))).toBe(true);
  expect(['other.example', 'other.example:1', 'x.dash.example', ''].some((each) => isNamed(each, names))).toBe(false);
});
