// Scenarios that need no simulated pods, on a real node with a real kubelet. None has pods with several containers: all
// containers run the same program, and two of them would need the same port.
import { expect, test } from 'vitest';
import { main } from '../scenarios/run.ts';
import { nodeMissing } from './programs.ts';

const names = ['environments/simple', 'environments/base-follows', 'environments/replica-size', 'targets/namespaces'];

test.skipIf(nodeMissing({ mesh: false }) !== undefined)('scenarios pass on a real node', async () => {
  const lines: string[] = [];
  await main([...names, '--cluster', 'node'], (line) => lines.push(line));
  expect(lines.filter((line) => line.includes('FAILED'))).toEqual([]);
  expect(lines.filter((line) => names.includes(line))).toEqual(names);
});
