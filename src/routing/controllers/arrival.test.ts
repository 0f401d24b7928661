import { expect, test } from 'vitest';
import type { View } from '../../controller/index.ts';
import type { Problem } from '../errors.ts';
import { reportDelay } from './arrival.ts';

const problem: Problem = { code: 'MeshNotFound', message: 'there is no such mesh' } as unknown as Problem;

/** A view whose plans have had the same findings for this long. */
function view(heldMs: number): View {
  return { heldFor: () => heldMs } as Partial<View> as View;
}

test.each([
  [0, 2_000],
  [1_500, 500],
  [2_000, 0],
  [9_000, 0],
])('reportDelay: a problem that has lasted %i ms is reported after another %i ms', (heldMs, waitMs) => {
  expect(reportDelay(view(heldMs), { rejected: [problem], notProgrammed: [] })).toBe(waitMs);
  expect(reportDelay(view(heldMs), { rejected: [], leftOut: [problem], notProgrammed: [] })).toBe(waitMs);
});

test('reportDelay is 0 without problems', () => {
  expect(reportDelay(view(0), { rejected: [], notProgrammed: [] })).toBe(0);
});
