// One run of a scenario with controllers that crash on the way, on a cluster of its own. Called by crash.test.ts.
import { expect } from 'vitest';
import { stringify } from 'yaml';
import { defineKind, keyOf } from '../../src/kube/index.ts';
import type { AnyObject, Client, Kind } from '../../src/kube/index.ts';
import { targets } from '../../src/targets/index.ts';
import { PROVISIONER } from '../../src/targets/names.ts';
import { contentKinds, Namespace } from '../../src/targets/objects.ts';
import { inProcess } from '../scenarios/cluster-actions.ts';
import { History } from '../scenarios/history.ts';
import { startCrashing } from '../scenarios/crashing-controllers.ts';
import { lasting, perform } from '../scenarios/sweep.ts';
import type { Run, State } from '../scenarios/sweep.ts';
import { MovingClock } from '../support/moving-clock.ts';
import { KINDS, scenarios } from './all.ts';
import { leftoversInTheEnd, takeAway } from './leftovers.ts';

export const HOST = 'offshoot-system';
const SYSTEM = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease']);
const Pod = defineKind('v1', 'Pod', 'pods');
const SEEN: readonly Kind[] = [...KINDS, ...(contentKinds as readonly Kind[]), Pod];

/**
 * Plays a scenario with controllers that crash after these numbers of writes, and deletes everything in the end. With a
 * reference, every step must reach the state of the reference. `ordered` changes the order of objects applied together.
 */
export async function run(
  { client, server }: { client: Client; server: string },
  scenario: string,
  namespace: string,
  writesUntilCrash: readonly number[] = [],
  reference?: Run,
  ordered: (objects: readonly AnyObject[]) => readonly AnyObject[] = (objects) => objects,
): Promise<Run> {
  const moves = scenarios
    .moves(scenario, { ns: namespace, host: HOST, server })
    .map((move) => (move.does === 'apply' ? { ...move, objects: ordered(move.objects) } : move));
  const history = await History.record(client, KINDS);
  const clock = new MovingClock();
  const cluster = { name: 'local', roles: [], server };
  const controllers = targets({ hostNamespace: HOST, cluster, ...scenarios.settings(scenario) });
  const brought = moves.filter(({ does }) => does === 'apply').flatMap(({ objects }) => objects);
  try {
    return await perform({
      actions: inProcess(client),
      moves,
      history,
      advance: (ms) => clock.advance(ms),
      crashing: await startCrashing({ client, clock, controllers }, writesUntilCrash),
      snapshot: () => snapshot(client),
      async end() {
        await takeAway(client, namespace);
        const secrets = brought.filter(({ kind }) => kind === 'Secret');
        expect(await leftoversInTheEnd(client, namespace, history, secrets)).toEqual([]);
      },
      reference,
    });
  } finally {
    await history.stop();
  }
}

/** The state of a cluster, without what depends on the time and number of writes. */
async function snapshot(client: Client): Promise<State> {
  const lists = await Promise.all(SEEN.map((kind) => client.list(kind)));
  const objects = lists
    .flatMap(({ items }) => items)
    .filter(({ kind, metadata }) => !SYSTEM.has(kind === Namespace.kind ? metadata.name : (metadata.namespace ?? '')));
  const byName = Map.groupBy(objects, ({ kind, metadata }) => withoutGenerated(`${kind} ${keyOf(metadata)}`));
  return Object.fromEntries(
    [...byName].map(([name, alike]) => [
      name,
      alike.map((each) => withoutGenerated(stringify(stablePart(each), { sortMapEntries: true }))).sort(),
    ]),
  );
}

interface Seen extends AnyObject {
  readonly data?: object;
  readonly status?: { readonly conditions?: readonly { readonly reason?: string }[] };
}

/** The stable part of an object: only the keys of credentials, and no resolved conditions. */
function stablePart(object: AnyObject): unknown {
  const { data, status, ...rest } = lasting(withoutMark(object)) as Seen;
  const conditions = (status?.conditions ?? []).filter(({ reason = '' }) => !reason.endsWith('Resolved'));
  return { ...rest, status: { ...status, conditions }, ...(data && { data: Object.keys(data) }) };
}

/** A claim is marked for its provisioner unless a request that was there before it becomes its target first. */
function withoutMark(object: AnyObject): AnyObject {
  const { [PROVISIONER]: mark, ...annotations } = object.metadata.annotations ?? {};
  const isBound = (object as { status?: { phase?: string } }).status?.phase === 'Bound';
  return mark === undefined || !isBound ? object : { ...object, metadata: { ...object.metadata, annotations } };
}

/** Replaces generated names and times: uids, prefixes and digests of uids, timestamps. */
function withoutGenerated(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/-[0-9a-f]{5}(?![0-9a-z])/g, '-ID')
    .replaceAll(/[0-9a-f]{32}/g, 'HASH')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME');
}
