// Creates environments, updates their image and deletes them under load. The loopback mesh and the real node share it.
import { DynamicEnv } from '../../../src/api/dynamicenv.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { gone, KEY, ready } from '../workload.ts';
import type { Phase } from './index.ts';
import type { Flow } from './sender.ts';

export type Step = 'create' | 'update' | 'delete';

export interface World {
  readonly client: Client;
  /** The environments with version n of their images; the bases have version 1. */
  readonly environments: (version: number) => readonly DynamicEnv[];
  /** Resolves when every proxy has applied what was written in a step. */
  readonly settled: (step: Step) => Promise<void>;
}

/** What to do in the middle of a step: after the request, before it is done. */
export type Disturbances = Partial<Record<Step, (environments: readonly DynamicEnv[]) => Promise<void>>>;

/** Creates, updates and deletes the environments, each a phase of the load. */
export async function cycle(world: World, phase: Phase, disturbances: Disturbances = {}): Promise<void> {
  const { client, environments, settled } = world;
  const step = async (
    name: Step,
    version: number,
    ask: (env: DynamicEnv) => Promise<unknown>,
    done: (env: DynamicEnv) => Promise<void>,
  ): Promise<void> => {
    await phase(name);
    const all = environments(version);
    for (const env of all) await ask(env);
    await disturbances[name]?.(all);
    await Promise.all(all.map(done));
    await settled(name);
  };
  const isReady = (env: DynamicEnv): Promise<void> => ready(client, env);
  await step('create', 2, (env) => client.create(DynamicEnv, env), isReady);
  const patch = ({ metadata, spec }: DynamicEnv): Promise<unknown> =>
    client.patch(DynamicEnv, metadata, { type: 'merge', body: { spec } });
  await step('update', 3, patch, isReady);
  await step(
    'delete',
    3,
    ({ metadata }) => client.delete(DynamicEnv, metadata),
    (env) => gone(client, env),
  );
}

/**
 * Requests to the base of an environment, with its key and without. Two thirds have the key, to catch an error that
 * lasts only a few milliseconds.
 */
export function flowsOf(env: string, base: string, at: Pick<Flow, 'address' | 'port'>): readonly Flow[] {
  const plain = { ...at, name: `plain ${base}`, host: base };
  const keyed = { ...plain, name: `${env} ${base}`, headers: { [KEY]: env } };
  return [plain, keyed, keyed];
}
