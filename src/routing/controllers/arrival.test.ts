import { expect, test } from 'vitest';
import type { View } from '../../controller/index.ts';
import type { Problem } from '../errors.ts';
import { waitBeforeTelling } from './arrival.ts';

const problem: Problem = { code: 'MeshNotFound', message: 'there is no such mesh' } as unknown as Problem;

/** A view whose plans have found the same for so long. */
function view(heldMs: number): View {
  return { heldFor: () => heldMs } as Partial<View> as View;
}

test.each([
  [0, 2_000],
  [1_500, 500],
  [2_000, 0],
  [9_000, 0],
])('what has been wrong for %i ms is told after another %i', (heldMs, waitMs) => {
  expect(waitBeforeTelling(view(heldMs), { rejected: [problem], notProgrammed: [] })).toBe(waitMs);
  expect(waitBeforeTelling(view(heldMs), { rejected: [], leftOut: [problem], notProgrammed: [] })).toBe(waitMs);
});

test('nothing waits where nothing is wrong', () => {
  expect(waitBeforeTelling(view(0), { rejected: [], notProgrammed: [] })).toBe(0);
});
