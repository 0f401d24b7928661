import { expect, test } from 'vitest';
import type { ProgressStep } from '../../api/description/tree.ts';
import { unpainted } from './colour.ts';
import { plainProgress, progressLines } from './progress.ts';

const steps: readonly ProgressStep[] = [
  { label: 'clone', state: 'working', note: 'initializing' },
  { label: 'routes', state: 'waiting', note: 'waits' },
];

test('plainProgress prints one line per change, and no line twice', () => {
  let text = '';
  const progress = plainProgress({ write: (chunk: string | Uint8Array) => (text += String(chunk)) !== '' });
  progress.show(steps);
  progress.show(steps);
  progress.show([{ label: 'clone', state: 'done', note: 'running' }, steps[1]!]);
  expect(text).toBe('clone: initializing\nroutes: waits\nclone: running\n');
});

test('progressLines has one line per step, never wider than the terminal', () => {
  expect(progressLines(steps, 0, 80, unpainted)).toEqual(['⠋ clone   initializing', '· routes  waits']);
  expect(progressLines(steps, 1, 80, unpainted)[0]).toBe('⠙ clone   initializing');
  for (const line of progressLines(steps, 0, 12, unpainted)) expect(line.length).toBeLessThan(12);
});
