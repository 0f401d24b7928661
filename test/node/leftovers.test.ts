// A node leaves nothing behind on the machine, and changes no setting of it, however it ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { machineState } from './leftovers.ts';
import { startRealNode } from './node.ts';
import { nodeMissing } from './programs.ts';

const startOne = fileURLToPath(new URL('./start-one.ts', import.meta.url));
/** Matches the processes of every node, whatever its folder. */
const anyNode = '/offshoot-node-';

describe.skipIf(nodeMissing({ mesh: false }) !== undefined)('a real node', () => {
  test('leaves nothing behind when it is stopped', async () => {
    const before = machineState(anyNode);
    const node = await startRealNode();
    expect(machineState(node.dir)['processes']).not.toEqual([]);
    expect(machineState(node.dir)['controlGroups']).not.toEqual([]);
    await node.stop();
    expect(machineState(anyNode)).toEqual(before);
    expect(existsSync(node.dir)).toBe(false);
  });

  test('leaves nothing behind when the process that started it is killed', async () => {
    const before = machineState(anyNode);
    const child = spawn(process.execPath, [startOne], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [dir] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    child.kill('SIGKILL');
    await until(() => !existsSync(dir), 20_000);
    await until(() => machineState(dir)['processes']!.length === 0);
    expect(machineState(anyNode)).toEqual(before);
  });
});
