// A node leaves nothing on the machine, and changes nothing about it, however it ends.
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
/** No node has this name yet; processes are looked for by that of the node later on. */
const nobody = '/offshoot-node-';

describe.skipIf(nodeMissing({ mesh: false }) !== undefined)('what is left of a real node', () => {
  test('nothing, when it is stopped', async () => {
    const before = machineState(nobody);
    const node = await startRealNode();
    expect(machineState(node.dir)['processes']).not.toEqual([]);
    expect(machineState(node.dir)['controlGroups']).not.toEqual([]);
    await node.stop();
    expect(machineState(nobody)).toEqual(before);
    expect(existsSync(node.dir)).toBe(false);
  });

  test('nothing, a moment after whoever started it was killed', async () => {
    const before = machineState(nobody);
    const child = spawn(process.execPath, [startOne], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [dir] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    child.kill('SIGKILL');
    await until(() => !existsSync(dir), 20_000);
    await until(() => machineState(dir)['processes']!.length === 0);
    expect(machineState(nobody)).toEqual(before);
  });
});
