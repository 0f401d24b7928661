// Scenarios that need no simulated pods, on a real node: what a kubelet reports is judged like the simulation. Pods of
// several containers are not among them: all of them run one program, which wants its port alone.
import { expect, test } from 'vitest';
import { main } from '../scenarios/run.ts';
import { nodeMissing } from './programs.ts';

const names = ['environments/simple', 'environments/base-follows', 'environments/replica-size', 'targets/namespaces'];

test.skipIf(nodeMissing({ mesh: false }) !== undefined)('scenarios on a real node', async () => {
  const lines: string[] = [];
  await main([...names, '--cluster', 'node'], (line) => lines.push(line));
  expect(lines.filter((line) => line.includes('FAILED'))).toEqual([]);
  expect(lines.filter((line) => names.includes(line))).toEqual(names);
});
