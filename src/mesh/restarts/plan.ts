// The batch planner: which workloads to restart now, and what the others wait for. A new batch begins when every workload
// of the last one is healthy again; one that gets stuck stops it all, because the next would get stuck as well.
import { timestamp } from '../../kube/times.ts';
import { EXCLUDED, MAINTENANCE_WINDOW, MODULE_LABEL, MODULE_NAMESPACE } from '../names.ts';
import { rolloutOf } from '../rollout.ts';
import type { Workload } from '../workloads.ts';
import { Budgets } from './budgets.ts';
import type { DisruptionBudget } from './budgets.ts';
import { markOf, needsDeletion } from './mark.ts';
import type { OutdatedWorkload } from './outdated.ts';
import { workloadKey, workloadRef } from './owners.ts';
import type { WorkloadRef } from './owners.ts';
import { opensAt, parseWindow } from './window.ts';
import type { MaintenanceWindow } from './window.ts';

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
  /** When workloads may be restarted that do not say so themselves; at any time without one. */
  readonly window?: MaintenanceWindow;
}

/** A workload that is not up to date, why, and what it waits for. */
export interface PendingWorkload {
  readonly workload: WorkloadRef;
  readonly why: string;
  readonly waiting: string;
}

export interface RestartPlan {
  /** To be marked now, which restarts them. */
  readonly restart: readonly { readonly workload: Workload; readonly why: string }[];
  /** Marked before: one of their old pods is to be deleted now. */
  readonly replace: readonly Workload[];
  /** On their way. */
  readonly restarting: readonly PendingWorkload[];
  readonly waiting: readonly PendingWorkload[];
  /** Restarted for this state, healthy, and still not as they should be: something else changes their pods. */
  readonly unchanged: readonly PendingWorkload[];
  readonly progress: { readonly total: number; readonly done: number };
  /** When a maintenance window opens. */
  readonly wakeAt?: number;
}

/** What to do now. The same facts after a crash give the same answer: what was begun is known by its mark. */
export function planRestarts(facts: RestartFacts): RestartPlan {
  const restarting: PendingWorkload[] = [];
  const unchanged: PendingWorkload[] = [];
  const candidates: { readonly workload: Workload; readonly why: string }[] = [];
  const replaceable: Workload[] = [];
  let total = 0;
  for (const workload of facts.workloads) {
    total++;
    const outdated = facts.outdated.get(workloadKey(workloadRef(workload)));
    const pending = (waiting: string): PendingWorkload => ({
      workload: workloadRef(workload),
      why: outdated?.why ?? 'it was restarted',
      waiting,
    });
    const mark = markOf(workload);
    if (mark?.for !== facts.hash) {
      if (outdated === undefined) total--;
      else candidates.push({ workload, why: outdated.why });
      continue;
    }
    if (isExcluded(workload)) continue;
    const rollout = rolloutOf(workload);
    const deletes = needsDeletion(workload) && outdated !== undefined && outdated.oldest <= mark.at;
    if (rollout.state !== 'done') restarting.push(pending(rollout.why));
    else if (deletes) {
      replaceable.push(workload);
      restarting.push(pending(`${outdated.pods} old pods are still there`));
    } else if (outdated !== undefined) {
      const when = timestamp(mark.at);
      unchanged.push(pending(`it was restarted for this at ${when}, and something else changes its pods`));
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
    ...(next.wakeAt !== undefined && { wakeAt: next.wakeAt }),
  };
}

interface Batch {
  readonly restart: RestartPlan['restart'];
  readonly waiting: readonly PendingWorkload[];
  readonly wakeAt?: number;
}

function nextBatch(
  candidates: RestartPlan['restart'],
  restarting: readonly PendingWorkload[],
  { batchSize, budgets, now, window }: RestartFacts,
): Batch {
  const spending = new Budgets(budgets);
  const restart: { readonly workload: Workload; readonly why: string }[] = [];
  const waiting: PendingWorkload[] = [];
  let wakeAt: number | undefined;
  for (const candidate of candidates) {
    const { workload, why } = candidate;
    const wait = (reason: string): void => {
      waiting.push({ workload: workloadRef(workload), why, waiting: reason });
    };
    const hindrance = ownHindrance(workload);
    if (hindrance !== undefined) {
      wait(hindrance);
      continue;
    }
    const times = windowOf(workload, window);
    const opens = typeof times === 'object' ? opensAt(times, now) : now;
    if (typeof times === 'string') wait(times);
    else if (opens > now) {
      wakeAt = Math.min(wakeAt ?? opens, opens);
      wait(`its maintenance window opens at ${timestamp(opens)}`);
    } else if (restarting.length > 0) wait(batchText(restarting));
    else if (restart.length >= batchSize) wait('the next batch');
    else {
      const forbidden = spending.spend(workload);
      if (forbidden === undefined) restart.push(candidate);
      else wait(forbidden);
    }
  }
  return { restart, waiting, ...(wakeAt !== undefined && { wakeAt }) };
}

/** What about a workload itself keeps it from being restarted. It holds up nobody else. */
function ownHindrance(workload: Workload): string | undefined {
  const { spec } = workload;
  if (isExcluded(workload)) return `it is excluded by annotation ${EXCLUDED}`;
  if (spec?.paused === true) return 'its rollout is paused';
  if (spec?.updateStrategy?.type === 'OnDelete') return 'its update strategy is OnDelete: delete its pods';
  const rollout = rolloutOf(workload);
  return rollout.state === 'done' ? undefined : `it is not healthy: ${rollout.why}`;
}

/** When a workload may be restarted: always without a window; a text says why its annotation is none. */
function windowOf(
  workload: Workload,
  otherwise: MaintenanceWindow | undefined,
): MaintenanceWindow | string | undefined {
  const text = annotationOf(workload, MAINTENANCE_WINDOW);
  if (text === undefined) return otherwise;
  return parseWindow(text) ?? `annotation ${MAINTENANCE_WINDOW} must be like "Sat-Sun 00:00-04:00", found "${text}"`;
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

/** What belongs to the module comes first, then everybody's workloads by name. */
function byPhaseAndName(a: { readonly workload: Workload }, b: { readonly workload: Workload }): number {
  const phase = ({ metadata }: Workload): number =>
    metadata.namespace === MODULE_NAMESPACE || (metadata.labels?.[MODULE_LABEL] ?? '') !== '' ? 0 : 1;
  const key = ({ kind, metadata }: Workload): string => `${metadata.namespace} ${metadata.name} ${kind}`;
  return phase(a.workload) - phase(b.workload) || (key(a.workload) < key(b.workload) ? -1 : 1);
}
