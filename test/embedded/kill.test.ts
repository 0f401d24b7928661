// Kills the embedded cluster with kill -9 under a heavy load of writes, again and again: acknowledged writes are not
// lost, resource versions only grow, and a watch resumes or is refused as expired.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, defineKind, isExpired, loadConfig } from '../../src/kube/index.ts';
import type { AnyObject, Client } from '../../src/kube/index.ts';

const KILLS = Number(process.env['OFFSHOOT_KILLS'] ?? 10);
const WRITERS = 8;
const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');
const BIN = path.resolve(import.meta.dirname, '../../bin/offshoot.js');

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-kill-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function start(): Promise<{ child: ChildProcess; client: Client }> {
  const child = spawn(
    process.execPath,
    [BIN, 'up', '--data-dir', dir, '--port', '0', '--no-controllers', '-o', 'json'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { kubeconfig } = JSON.parse(line) as { kubeconfig: string };
  return { child, client: connect(loadConfig({ path: kubeconfig })) };
}

/** The last acknowledged write by name: its resource version and value, or that the object was deleted. */
type Acknowledged = Map<string, { version: bigint; value: string } | 'deleted'>;

/** Does the stored object match the last acknowledged write? */
function isStored(
  stored: AnyObject | undefined,
  acknowledged: { version: bigint; value: string } | 'deleted',
): boolean {
  if (acknowledged === 'deleted') return stored === undefined;
  const { value } = (stored?.['data'] ?? {}) as { value?: string };
  return value === acknowledged.value && BigInt(stored!.metadata.resourceVersion!) === acknowledged.version;
}

/** Writes until the server is killed. Each writer has its own names, so the last acknowledged write must be stored. */
async function writeUntilKilled(client: Client, writer: number, round: number, known: Acknowledged): Promise<void> {
  for (let i = 0; ; i++) {
    const name = `w${writer}-${i % 5}`;
    const ref = { name, namespace: 'default' };
    const value = `${round}.${i}`;
    const before = known.get(name);
    try {
      let written: AnyObject | undefined;
      // During a write the outcome is unknown: either state may be stored after the kill.
      known.delete(name);
      if (before === undefined || before === 'deleted') {
        written = await client.create(ConfigMap, {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: ref,
          data: { value },
        });
      } else if (i % 7 === 6) {
        await client.delete(ConfigMap, ref);
      } else {
        written = await client.patch(ConfigMap, ref, { type: 'merge', body: { data: { value } } });
      }
      known.set(name, written ? { version: BigInt(written.metadata.resourceVersion!), value } : 'deleted');
    } catch {
      return;
    }
  }
}

test(`the embedded cluster loses no acknowledged write over ${KILLS} kills`, async () => {
  const known: Acknowledged = new Map();
  let highest = 0n;
  let resumeFrom: string | undefined;
  let writes = 0;
  for (let round = 0; round <= KILLS; round++) {
    const { child, client } = await start();
    const { items, resourceVersion } = await client.list(ConfigMap, { namespace: 'default' });
    const found = new Map(items.map((item) => [item.metadata.name, item]));
    expect(BigInt(resourceVersion)).toBeGreaterThanOrEqual(highest);
    const lost = [...known].filter(([name, acknowledged]) => !isStored(found.get(name), acknowledged));
    expect(lost, `acknowledged before kill ${round}`).toEqual([]);
    writes += known.size;
    if (resumeFrom !== undefined) await expectWatchResumes(client, resumeFrom, resourceVersion);
    // The stored objects decide the unknown outcomes.
    for (let writer = 0; writer < WRITERS; writer++) {
      for (let i = 0; i < 5; i++) {
        const stored = found.get(`w${writer}-${i}`);
        const value = (stored?.['data'] as { value?: string } | undefined)?.value ?? '';
        known.set(`w${writer}-${i}`, stored ? { version: BigInt(stored.metadata.resourceVersion!), value } : 'deleted');
      }
    }
    highest = BigInt(resourceVersion);
    resumeFrom = resourceVersion;
    if (round < KILLS) {
      const writers = Array.from({ length: WRITERS }, (_none, writer) =>
        writeUntilKilled(client, writer, round, known),
      );
      await setTimeout(20 + Math.random() * 80);
      child.kill('SIGKILL');
      await Promise.all([once(child, 'exit'), ...writers]);
    } else {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    client.close();
    for (const state of known.values()) if (state !== 'deleted' && state.version > highest) highest = state.version;
  }
  expect(writes).toBeGreaterThan(KILLS);
}, 300_000);

/** A watch from a version before the kill either sends all events since then, or is refused as expired. */
async function expectWatchResumes(client: Client, from: string, upTo: string): Promise<void> {
  if (from === upTo) return;
  const abort = new AbortController();
  const versions: bigint[] = [];
  const options = { namespace: 'default', resourceVersion: from, timeoutSeconds: 1, signal: abort.signal };
  const failure: unknown = await client
    .watch(ConfigMap, options, ({ object }) => {
      versions.push(BigInt(object.metadata.resourceVersion!));
      if (versions.at(-1)! >= BigInt(upTo)) abort.abort();
    })
    .catch((error: unknown) => (abort.signal.aborted ? undefined : error));
  expect(failure === undefined || isExpired(failure), String(failure)).toBe(true);
  expect(versions).toEqual(versions.toSorted((a, b) => (a < b ? -1 : 1)));
  expect(versions.every((version) => version > BigInt(from))).toBe(true);
}
