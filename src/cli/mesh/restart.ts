// `offshoot mesh restart`: restarts workloads with outdated sidecars, as the controllers do, with the user's
// permissions. It is safe beside running controllers: neither restarts what the other has restarted.
import type { ProgressStep } from '../../api/description/tree.ts';
import { createLogger, Manager, Reads } from '../../controller/index.ts';
import type { Client } from '../../kube/index.ts';
import { NotSynced } from '../../kube/index.ts';
import {
  defaultMeshSettings,
  injectsSidecars,
  isRestartingOver,
  isUnfinished,
  meshRestarts,
  MutatingWebhook,
  restartSteps,
  restartSummary,
  workloadKey,
  workloadRef,
} from '../../mesh/index.ts';
import type { RestartProgress, Restarts } from '../../mesh/index.ts';
import { failure } from '../exit.ts';
import { listOfKind } from '../objects/find.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import type { Progress } from '../terminal/progress.ts';
import { durationText, withProgress } from '../terminal/with-progress.ts';
import { refuseNamespace } from './namespace.ts';
import { ISTIO } from './nouns.ts';

export interface RestartOptions extends ClusterOptions {
  readonly outdated?: boolean;
  readonly watch?: boolean;
  readonly dryRun?: boolean;
  readonly uninjected?: boolean;
  readonly batchSize: number;
  readonly timeout: number;
}

/** How long the installation must be unchanged before restarts begin. */
const SETTLE_MS = 1_000;
/** Restart without delay: only wait for an istiod that is terminating. */
const RECONNECT_MS = 0;

/** Restarts outdated workloads: the next batch, or with `watch` all of them. */
export function meshRestartCommand(options: RestartOptions): Promise<void> {
  const { outdated, watch = false, dryRun = false, uninjected = false, batchSize, timeout } = options;
  if (outdated !== true) throw failure('MissingFlag', 'specify what to restart: --outdated');
  if (dryRun && watch)
    throw failure('ConflictingFlags', '--dry-run restarts nothing that --watch could show: leave one of them out');
  refuseNamespace(options);
  return withConnection(options, async ({ client }) => {
    const istios = await listOfKind(client, ISTIO, {});
    if (istios.length === 0)
      throw failure('NotFound', 'there is no Istio resource: the desired state of sidecars is unknown');
    if (uninjected) await refuseWithoutInjection(client);
    const waits = { settleMs: SETTLE_MS, reconnectMs: RECONNECT_MS };
    const settings = { ...defaultMeshSettings, ...waits, batchSize, restartUninjected: uninjected };
    const restarts = meshRestarts(settings);
    const isEnough = watch ? isRestartingOver : isBegun;
    const over = await withProgress(timeout, (signal, progress) =>
      follow(client, restarts, signal, dryRun ? isKnown : isEnough, {
        controllers: dryRun ? [] : restarts.controllers,
        shown: dryRun ? undefined : progress,
      }),
    );
    if (over === undefined) throw failure('TimedOut', `not done after ${durationText(timeout)}`);
    if (dryRun) for (const line of planLines(over)) console.log(line);
    else console.log(restartSummary(over).join('\n'));
    if (watch && isUnfinished(over)) throw failure('Stalled', 'not everything that is outdated was restarted');
  });
}

/** Throws if sidecars are not injected: a restart would change nothing. */
async function refuseWithoutInjection(client: Client): Promise<void> {
  const { items } = await client.list(MutatingWebhook);
  if (injectsSidecars(items)) return;
  throw failure(
    'InvalidFlag',
    '--uninjected: nothing injects sidecars into new pods of this cluster, so a restart would change nothing',
  );
}

interface FollowOptions {
  readonly controllers: Restarts['controllers'];
  readonly shown: Progress | undefined;
}

/** Runs controllers until `isEnough`, and returns the progress of the restarts. */
async function follow(
  client: Client,
  restarts: Restarts,
  signal: AbortSignal,
  isEnough: (progress: RestartProgress) => boolean,
  { controllers, shown }: FollowOptions,
): Promise<RestartProgress> {
  const manager = new Manager({ client, controllers, logger: createLogger({ level: 'silent' }) });
  let changed = Promise.withResolvers<void>();
  const reads = new Reads({ tables: manager.tables, now: Date.now, wake: () => changed.resolve() });
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  const known = new Map<string, ProgressStep>();
  try {
    await Promise.race([manager.start(), aborted.promise]);
    for (;;) {
      changed = Promise.withResolvers();
      const progress = currentProgress(reads, restarts);
      if (progress !== undefined) {
        shown?.show(withDone(restartSteps(progress), known));
        if (isEnough(progress)) return progress;
      }
      await Promise.race([changed.promise, aborted.promise]);
    }
  } finally {
    signal.removeEventListener('abort', abort);
    reads.close();
    await manager.stop();
  }
}

function currentProgress(reads: Reads, restarts: Restarts): RestartProgress | undefined {
  try {
    return reads.track('restarts', (view) => restarts.progress(view));
  } catch (error) {
    if (error instanceof NotSynced) return undefined;
    throw error;
  }
}

/** Adds steps that were in progress and are no longer listed as done, latest first. */
function withDone(steps: readonly ProgressStep[], known: Map<string, ProgressStep>): readonly ProgressStep[] {
  const listed = new Set(steps.map(({ label }) => label));
  for (const each of steps) if (each.state === 'working') known.set(each.label, each);
  const done = [...known.values()].filter(({ label }) => !listed.has(label));
  return [
    ...steps,
    ...done.map(({ label }): ProgressStep => ({ label, state: 'done', note: 'restarted' })).toReversed(),
  ];
}

/** Whether everything that may be restarted now is being restarted. */
function isBegun({ plan }: RestartProgress): boolean {
  return plan !== undefined && plan.restart.length === 0;
}

function isKnown(): boolean {
  return true;
}

function planLines({ waiting: missing, plan, uninjected }: RestartProgress): readonly string[] {
  if (plan === undefined) return [`Nothing is restarted yet: waiting for ${missing}.`];
  const { restart, restarting, waiting, unchanged } = plan;
  const lines = [
    ...restart.map(({ workload, why }) => `${workloadKey(workloadRef(workload))}: now; ${why}`),
    ...[...restarting, ...waiting, ...unchanged].map((each) => {
      return `${workloadKey(each.workload)}: waits, ${each.waiting}; ${each.why}`;
    }),
    ...uninjected.map(({ namespace, name, why }) => `Pod ${namespace}/${name}: only with --uninjected; ${why}`),
  ];
  return lines.length > 0 ? lines : ['Nothing is to be restarted.'];
}
