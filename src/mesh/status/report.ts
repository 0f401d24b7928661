// A plan with the status of a resource, Events for what a person acts on, and the time of the next retry.
import type { Istio } from '../../api/istio.ts';
import type { Plan, PlannedEvent } from '../../controller/index.ts';
import type { Step } from '../../kube/index.ts';
import { worstOf } from './failures.ts';
import { meshStatus } from './status.ts';
import type { StatusFacts } from './status.ts';

/** A plan with these steps, and with the status and Events for these facts. */
export function report(facts: StatusFacts, steps: readonly Step[] = [], againInMs?: number): Plan {
  const status = meshStatus(facts);
  const { retry } = worstOf(facts.failures) ?? {};
  const times = [typeof retry === 'number' ? retry * 1000 : Infinity, againInMs ?? Infinity];
  const requeueAfterMs = Math.min(...times);
  return {
    steps,
    status,
    events: eventsOf(facts.istio, status),
    ...(Number.isFinite(requeueAfterMs) && { requeueAfterMs }),
  };
}

/** The reasons of `Ready` while Istio itself works; workloads may still be restarting. */
const WORKING: ReadonlySet<string | undefined> = new Set(['ReconcileSucceeded', 'ReconcileRequeued']);

/** An Event for each state that a person acts on or waits for; none for restarts, which have their own Events. */
function eventsOf({ status: before }: Istio, status: ReturnType<typeof meshStatus>): readonly PlannedEvent[] {
  const { state, description = '', conditions = [], istioVersion } = status;
  const reason = reasonOf(conditions) ?? state;
  const reasonBefore = reasonOf(before?.conditions);
  if (reason === 'IstioUninstallSucceeded' && reason !== reasonBefore) {
    return [{ type: 'Normal', reason, note: 'Istio is uninstalled' }];
  }
  if (state === 'Error' || state === 'Warning') {
    const isReported = before?.state === state && before.description === description;
    return isReported ? [] : [{ type: 'Warning', reason, note: description }];
  }
  if (!WORKING.has(reason) || WORKING.has(reasonBefore)) return [];
  const note = `Istio ${istioVersion ?? ''} is ready`.replace('  ', ' ');
  return [{ type: 'Normal', reason: 'ReconcileSucceeded', note }];
}

function reasonOf(conditions: readonly { readonly type: string; readonly reason?: string }[] = []): string | undefined {
  return conditions.find(({ type }) => type === 'Ready')?.reason;
}
