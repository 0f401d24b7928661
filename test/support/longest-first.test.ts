import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LONGEST } from './longest-first.ts';

test('every file that is to begin first is there', () => {
  expect(LONGEST.filter((file) => !existsSync(file))).toEqual([]);
});
