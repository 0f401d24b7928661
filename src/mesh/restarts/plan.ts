// The batch planner: which workloads to restart now, and what the others wait for. A new batch starts when every
// workload of the previous one is healthy again. One that is stuck stops everything, as the next would probably get
// stuck too.
import { timestamp } from '../../kube/times.ts';
import { EXCLUDED, MAINTENANCE_WINDOW, MODULE_LABEL, MODULE_NAMESPACE } from '../names.ts';
import { rolloutOf } from '../workloads/rollout.ts';
import type { Workload } from '../workloads/workloads.ts';
import { Budgets } from './budgets.ts';
import type { DisruptionBudget } from './budgets.ts';
import { lastRestart, needsDeletion } from './restart-annotations.ts';
import type { OutdatedWorkload } from './outdated.ts';
import { workloadKey, workloadRef } from './owners.ts';
import type { WorkloadRef } from './owners.ts';
import { opensAt, parseWindow } from './window.ts';
import type { MaintenanceWindow } from './window.ts';

const SECOND = 1000;

export interface RestartFacts {
  /** Every outdated workload, and every one that was restarted for this state. */
  readonly workloads: Iterable<Workload>;
  /** By workload key. */
  readonly outdated: ReadonlyMap<string, OutdatedWorkload>;
  /** The hash of the desired state. */
  readonly hash: string;
  readonly now: number;
  readonly budgets: Iterable<DisruptionBudget>;
  readonly batchSize: number;
  /** The maintenance window of workloads without their own; without it they may be restarted at any time. */
  readonly window?: MaintenanceWindow;
  /** Returns the refusal of the server to restart a workload, if any. */
  readonly refused?: (workload: WorkloadRef) => RefusedRestart | undefined;
}

interface RefusedRestart {
  readonly message: string;
  readonly retryAt: number;
}

/** A workload that is not up to date, with the reason and what it waits for. */
export interface PendingWorkload {
  readonly workload: WorkloadRef;
  readonly why: string;
  readonly waiting: string;
  /** Whether it waits for a rollout, for a certain time, or for a person. */
  readonly on: 'rollouts' | 'time' | 'people';
  /** It is excluded from restarts. */
  readonly isExcluded?: true;
  /** It is restarted when it is healthy again, which may be soon: pods of an autoscaler are not ready at once. */
  readonly isUnhealthy?: true;
}

export interface RestartPlan {
  /** The workloads to restart now. */
  readonly restart: readonly { readonly workload: Workload; readonly why: string }[];
  /** Workloads that are restarting by deletion of pods: one of their old pods is deleted now. */
  readonly replace: readonly Workload[];
  /** The workloads that are restarting. */
  readonly restarting: readonly PendingWorkload[];
  readonly waiting: readonly PendingWorkload[];
  /** Workloads that were restarted for this state and are healthy, but outdated: something else changes their pods. */
  readonly unchanged: readonly PendingWorkload[];
  readonly progress: { readonly total: number; readonly done: number };
  /** When to plan again: a maintenance window opens, or a refused restart may be retried. */
  readonly wakeAt?: number;
}

/** Plans the next restarts. After a crash the same facts give the same plan: annotations record the restarts. */
export function planRestarts(facts: RestartFacts): RestartPlan {
  const restarting: PendingWorkload[] = [];
  const unchanged: PendingWorkload[] = [];
  const candidates: { readonly workload: Workload; readonly why: string }[] = [];
  const replaceable: Workload[] = [];
  const wakes: number[] = [];
  let total = 0;
  for (const workload of facts.workloads) {
    total++;
    const outdated = facts.outdated.get(workloadKey(workloadRef(workload)));
    const pending = (waiting: string, on: PendingWorkload['on'] = 'rollouts'): PendingWorkload => ({
      workload: workloadRef(workload),
      why: outdated?.why ?? 'it was restarted',
      waiting,
      on,
    });
    const restarted = lastRestart(workload);
    if (restarted?.for !== facts.hash) {
      if (outdated === undefined) total--;
      else candidates.push({ workload, why: outdated.why });
      continue;
    }
    if (isExcluded(workload)) continue;
    const rollout = rolloutOf(workload);
    // Creation times have a resolution of one second: a pod of the same second counts as new.
    const deletes = needsDeletion(workload) && outdated !== undefined && outdated.oldest < restarted.at;
    if (rollout.state !== 'done') restarting.push(pending(rollout.why));
    else if (deletes) {
      const refusal = facts.refused?.(workloadRef(workload));
      if (refusal === undefined) replaceable.push(workload);
      else wakes.push(refusal.retryAt);
      restarting.push(pending(refusal?.message ?? `${outdated.pods} old pods are still there`));
    } else if (outdated !== undefined && replacesAll(workload) && outdated.newest < restarted.at) {
      // The status of the workload is ahead of the table of pods.
      restarting.push(pending(`${outdated.pods} old pods are still there`));
    } else if (outdated !== undefined && !outdated.bySetting && !outdated.isUnhealthy) {
      const when = timestamp(restarted.at);
      unchanged.push(pending(`it was restarted for this at ${when}, and something else changes its pods`, 'people'));
    }
  }
  const next = nextBatch(candidates.toSorted(byPhaseAndName), restarting, facts);
  const budgets = new Budgets(facts.budgets);
  return {
    restart: next.restart,
    replace: replaceable.filter((workload) => budgets.spend(workload) === undefined),
    restarting,
    waiting: next.waiting,
    unchanged,
    progress: { total, done: total - candidates.length - restarting.length - unchanged.length },
    ...earliest([...wakes, ...next.wakes]),
  };
}

/** How many workloads are restarting or will be restarted without a person. */
export function unfinished({ restart, restarting, waiting }: RestartPlan): number {
  return restart.length + restarting.length + waiting.filter(({ on }) => on !== 'people').length;
}

/** Whether each workload has been restarted, or needs a person for that. */
export function isInEffect(plan: RestartPlan): boolean {
  return unfinished(plan) === 0 && !plan.waiting.some(({ isUnhealthy }) => isUnhealthy);
}

interface Batch {
  readonly restart: RestartPlan['restart'];
  readonly waiting: readonly PendingWorkload[];
  readonly wakes: readonly number[];
}

function nextBatch(
  candidates: RestartPlan['restart'],
  restarting: readonly PendingWorkload[],
  facts: RestartFacts,
): Batch {
  const spending = new Budgets(facts.budgets);
  const restart: { readonly workload: Workload; readonly why: string }[] = [];
  const waiting: PendingWorkload[] = [];
  const wakes: number[] = [];
  for (const candidate of candidates) {
    const { workload, why } = candidate;
    const ref = workloadRef(workload);
    const own = ownBlocker(workload) ?? currentBlocker(workload, facts);
    if (own?.until !== undefined) wakes.push(own.until);
    const text =
      own?.text ??
      (restarting.length > 0 ? batchText(restarting) : undefined) ??
      (restart.length >= facts.batchSize ? 'the next batch' : undefined) ??
      spending.spend(workload);
    const on = own === undefined || own.rollsOut === true ? 'rollouts' : own.until === undefined ? 'people' : 'time';
    const flags = {
      ...(isExcluded(workload) && { isExcluded: true as const }),
      ...(own?.isUnhealthy && { isUnhealthy: true as const }),
    };
    if (text === undefined) restart.push(candidate);
    else waiting.push({ workload: ref, why, waiting: text, on, ...flags });
  }
  return { restart, waiting, wakes };
}

function earliest(wakes: readonly number[]): Pick<RestartPlan, 'wakeAt'> {
  return wakes.length === 0 ? {} : { wakeAt: Math.min(...wakes) };
}

/** Why one workload cannot be restarted; it does not block others. */
interface Blocker {
  readonly text: string;
  /** When to try again. */
  readonly until?: number;
  /** It ends with a rollout that somebody else started. */
  readonly rollsOut?: boolean;
  readonly isUnhealthy?: true;
}

/** Why a workload cannot be restarted, by its own state. */
function ownBlocker(workload: Workload): Blocker | undefined {
  const { spec } = workload;
  if (isExcluded(workload)) return { text: `it is excluded by annotation ${EXCLUDED}` };
  if (spec?.paused === true) return { text: 'its rollout is paused' };
  if (spec?.updateStrategy?.type === 'OnDelete') return { text: 'its update strategy is OnDelete: delete its pods' };
  const rollout = rolloutOf(workload);
  if (rollout.state === 'done') return undefined;
  if (rollout.state === 'progressing' && rollout.degraded !== true) return { text: rollout.why, rollsOut: true };
  return { text: `it is not healthy: ${rollout.why}`, isUnhealthy: true };
}

/** Why a workload cannot be restarted at this time. */
function currentBlocker(workload: Workload, facts: RestartFacts): Blocker | undefined {
  const { now, refused, outdated, window } = facts;
  const refusal = refused?.(workloadRef(workload));
  if (refusal !== undefined) return { text: refusal.message, until: refusal.retryAt };
  const { newest, isUnhealthy } = outdated.get(workloadKey(workloadRef(workload)))!;
  if (isUnhealthy) return { text: 'it is not healthy: its outdated pods are not ready', isUnhealthy: true };
  // Pods of the current second could not be distinguished from new ones after the restart.
  if (needsDeletion(workload) && newest >= now - (now % SECOND)) {
    return { text: 'its pods were just created', until: newest + SECOND };
  }
  const times = windowOf(workload, window);
  if (typeof times === 'string') return { text: times };
  const opens = times === undefined ? now : opensAt(times, now);
  return opens > now ? { text: `its maintenance window opens at ${timestamp(opens)}`, until: opens } : undefined;
}

/** The maintenance window of a workload; undefined means always, a string says why its annotation is invalid. */
function windowOf(
  workload: Workload,
  otherwise: MaintenanceWindow | undefined,
): MaintenanceWindow | string | undefined {
  const text = annotationOf(workload, MAINTENANCE_WINDOW);
  if (text === undefined) return otherwise;
  return parseWindow(text) ?? `annotation ${MAINTENANCE_WINDOW} must be like "Sat-Sun 00:00-04:00", found "${text}"`;
}

/** Whether a completed rollout leaves no old pods. */
function replacesAll({ spec }: Workload): boolean {
  const { type, rollingUpdate } = spec?.updateStrategy ?? {};
  return type !== 'OnDelete' && (rollingUpdate?.partition ?? 0) === 0;
}

/** What the next batch waits for. */
function batchText(restarting: readonly PendingWorkload[]): string {
  const [first, ...others] = restarting;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `${workloadKey(first!.workload)}${more} must be healthy first: ${first!.waiting}`;
}

function isExcluded(workload: Workload): boolean {
  const value = annotationOf(workload, EXCLUDED);
  return value !== undefined && value !== 'false';
}

/** An annotation of the workload or of its pods. */
function annotationOf({ metadata, spec }: Workload, name: string): string | undefined {
  return metadata.annotations?.[name] ?? spec?.template?.metadata?.annotations?.[name];
}

/** Workloads of the module come first, then the others by name. */
function byPhaseAndName(a: { readonly workload: Workload }, b: { readonly workload: Workload }): number {
  const phase = ({ metadata }: Workload): number =>
    metadata.namespace === MODULE_NAMESPACE || (metadata.labels?.[MODULE_LABEL] ?? '') !== '' ? 0 : 1;
  const key = ({ kind, metadata }: Workload): string => `${metadata.namespace} ${metadata.name} ${kind}`;
  return phase(a.workload) - phase(b.workload) || (key(a.workload) < key(b.workload) ? -1 : 1);
}
