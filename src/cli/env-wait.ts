// Waits until environments are ready, or gone, and shows how far they are meanwhile.
import { DynamicEnv } from '../api/dynamicenv.ts';
import type { ResourceStatus } from '../api/dynamicenv.ts';
import { isRouteOf, ownerOf } from '../environments/marks.ts';
import { Deployment, DestinationRule, VirtualService } from '../environments/objects.ts';
import type { Client } from '../kube/client.ts';
import { isForbidden } from '../kube/errors.ts';
import { keyOf } from '../kube/objects.ts';
import type { Kind, KubeObject, Ref } from '../kube/objects.ts';
import { environmentSteps } from './env-progress.ts';
import { isCurrent, verdictOf } from './env-state.ts';
import { readWorld } from './env-world.ts';
import { CommandFailed, EXIT, interruptible } from './exit.ts';
import { followUntil } from './follow.ts';
import { progressOn } from './progress.ts';
import type { Progress, ProgressStep } from './progress.ts';
import { describeEnvironment, problemsOf } from './tree.ts';

/** Resolves when an environment is ready; fails with the reason when it stalls, or when the time is up. */
export async function waitReady(client: Client, env: DynamicEnv, timeoutMs: number): Promise<void> {
  let latest = env;
  const { name, namespace } = env.metadata;
  const selection = { namespace: namespace!, fieldSelector: `metadata.name=${name}` };
  const outcome = await withProgress(timeoutMs, (signal, progress) => {
    progress.show(environmentSteps(env));
    return followUntil(client, DynamicEnv, selection, signal, (table) => {
      const [found] = table.list();
      if (found === undefined) throw new CommandFailed(EXIT.error, `environment ${keyOf(env.metadata)} was deleted`);
      latest = found;
      progress.show(environmentSteps(found));
      const verdict = verdictOf(found);
      return verdict.is === 'open' ? undefined : verdict;
    });
  });
  if (outcome !== undefined && outcome.is === 'ready') return;
  const about = `environment ${keyOf(env.metadata)}`;
  if (outcome !== undefined) throw new CommandFailed(EXIT.error, `${about} is stalled: ${outcome.reason}`);
  const reasons = await reasonsOf(client, latest);
  throw new CommandFailed(
    EXIT.timedOut,
    [`${about} is not ready after ${seconds(timeoutMs)}`, ...reasons].join('\n  '),
  );
}

async function reasonsOf(client: Client, env: DynamicEnv): Promise<readonly string[]> {
  const problems = problemsOf(describeEnvironment(await readWorld(client, env)).environment);
  if (problems.length > 0 || !isCurrent(env)) return problems;
  return environmentSteps(env)
    .filter(({ state }) => state !== 'done')
    .map(({ label, note }) => `${label}: ${note}`);
}

/** One thing that goes with an environment. */
interface Leaving {
  readonly label: string;
  /** Resolves when it is gone. */
  readonly whenGone: (client: Client, signal: AbortSignal) => Promise<void>;
}

/** What goes when an environment is deleted, the environment itself last. */
export function leavingWith(env: DynamicEnv): readonly Leaving[] {
  const subsets = Object.values(env.status?.subsetsStatus ?? {});
  const consumers = Object.values(env.status?.consumersStatus ?? {});
  const owner = ownerOf(env, []);
  const isNamed = ({ name }: Ref): boolean => name !== '';
  const isThere = ({ status }: ResourceStatus): boolean => status === 'running';
  return [
    ...unique(subsets.flatMap(({ virtualServices = [] }) => virtualServices))
      .filter(isThere)
      .map((ref) =>
        leaving(VirtualService, ref, `Routes in VirtualService ${keyOf(ref)}`, (service) =>
          (service.spec?.http ?? []).every((route) => !isRouteOf(owner, service, route)),
        ),
      ),
    ...unique(subsets.flatMap(({ destinationRules = [] }) => destinationRules))
      .filter(isThere)
      .map((ref) => leaving(DestinationRule, ref, `DestinationRule ${keyOf(ref)}`)),
    ...unique([...subsets.map(({ deployment }) => deployment), ...consumers])
      .filter(isNamed)
      .map((ref) => leaving(Deployment, ref, `Deployment ${keyOf(ref)}`)),
    leaving(
      DynamicEnv,
      env.metadata,
      `Environment ${keyOf(env.metadata)}`,
      ({ metadata }) => metadata.uid !== env.metadata.uid,
    ),
  ];
}

function leaving<T extends KubeObject>(
  kind: Kind<T>,
  { name, namespace }: Ref,
  label: string,
  isClean: (object: T) => boolean = () => false,
): Leaving {
  const selection = { namespace: namespace!, fieldSelector: `metadata.name=${name}` };
  return {
    label,
    whenGone: async (client, signal) => {
      await followUntil(client, kind, selection, signal, (table) => (table.list().every(isClean) ? true : undefined));
    },
  };
}

function unique<R extends Ref>(refs: readonly R[]): R[] {
  return [...new Map(refs.map((ref) => [keyOf(ref), ref])).values()];
}

/** Resolves when everything is gone; fails with what is left when the time is up. */
export async function waitGone(client: Client, things: readonly Leaving[], timeoutMs: number): Promise<void> {
  const steps = new Map<string, ProgressStep>(
    things.map(({ label }) => [label, { label, state: 'working', note: 'leaving' }]),
  );
  const done = await withProgress(timeoutMs, async (signal, progress) => {
    progress.show([...steps.values()]);
    const settle = async ({ label, whenGone }: Leaving): Promise<void> => {
      const note = await whenGone(client, signal).then(
        () => 'gone',
        (error: unknown) => {
          // Whoever may delete an environment may not see all that goes with it.
          if (isForbidden(error)) return 'not visible to you';
          throw error;
        },
      );
      steps.set(label, { label, state: 'done', note });
      progress.show([...steps.values()]);
    };
    await Promise.all(things.map(settle));
    return true;
  });
  if (done) return;
  const left = [...steps.values()]
    .filter(({ state }) => state !== 'done')
    .map(({ label }) => `${label} is still there`);
  const hint = 'check that "offshoot run" runs in this cluster: it is what cleans up';
  throw new CommandFailed(EXIT.timedOut, [`not gone after ${seconds(timeoutMs)}`, ...left, hint].join('\n  '));
}

/** Runs something with progress shown; undefined when the time is up. */
async function withProgress<R>(
  timeoutMs: number,
  run: (signal: AbortSignal, progress: Progress) => Promise<R>,
): Promise<R | undefined> {
  const progress = progressOn(process.stderr);
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    return await interruptible((signal) => run(AbortSignal.any([signal, timeout]), progress));
  } catch (error) {
    if (error === timeout.reason) return undefined;
    throw error;
  } finally {
    progress.end();
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10}s`;
}
