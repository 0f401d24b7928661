// A plan that tells people how far a resource is: its status, Events for what a person acts on, and when to look again.
import type { Istio } from '../api/istio.ts';
import type { Plan, PlannedEvent } from '../controller/index.ts';
import type { Step } from '../kube/index.ts';
import { worstOf } from './failures.ts';
import { meshStatus } from './status.ts';
import type { StatusFacts } from './status.ts';

/** A plan with these steps that tells of these facts. */
export function tell(facts: StatusFacts, steps: readonly Step[] = [], againInMs?: number): Plan {
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

/** One for each state that a person acts on, or has waited for. */
function eventsOf({ status: before }: Istio, status: ReturnType<typeof meshStatus>): readonly PlannedEvent[] {
  const { state, description = '', conditions = [], istioVersion } = status;
  const reason = reasonOf(conditions) ?? state;
  if (reason === 'IstioUninstallSucceeded' && reason !== reasonOf(before?.conditions)) {
    return [{ type: 'Normal', reason, note: 'Istio is uninstalled' }];
  }
  if (before?.state === state && (before.description ?? '') === description) return [];
  if (state === 'Error' || state === 'Warning') return [{ type: 'Warning', reason, note: description }];
  return state === 'Ready'
    ? [{ type: 'Normal', reason, note: `Istio ${istioVersion ?? ''} is ready`.replace('  ', ' ') }]
    : [];
}

function reasonOf(conditions: readonly { readonly type: string; readonly reason?: string }[] = []): string | undefined {
  return conditions.find(({ type }) => type === 'Ready')?.reason;
}
