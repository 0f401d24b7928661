import { expect, test } from 'vitest';
import type { Istio } from '../../api/istio.ts';
import { failure } from './failures.ts';
import type { PendingWorkload, RestartPlan } from '../restarts/plan.ts';
import type { StatusFacts } from './status.ts';
import { report } from './report.ts';

const pending: PendingWorkload = {
  workload: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'a' },
  why: 'old image',
  waiting: '0 of 1 pods are new',
  on: 'rollouts',
};
const DONE: RestartPlan = {
  restart: [],
  replace: [],
  restarting: [],
  waiting: [],
  unchanged: [],
  progress: { total: 1, done: 1 },
};
const RESTARTING: RestartPlan = { ...DONE, restarting: [pending], progress: { total: 1, done: 0 } };

/** The Events for a sequence of states. */
function eventsOf(...facts: readonly Partial<StatusFacts>[]): readonly string[] {
  let istio: Istio = { apiVersion: 'v1', kind: 'Istio', metadata: { name: 'default', generation: 1 } };
  return facts.flatMap((each) => {
    const { status, events = [] } = report({ istio, failures: [], istioVersion: '1.31.0', ...each });
    istio = { ...istio, status: status as NonNullable<Istio['status']> };
    return events.map(({ reason, note }) => `${reason}: ${note}`);
  });
}

const READY = 'ReconcileSucceeded: Istio 1.31.0 is ready';

test('report emits the Event that Istio is ready once, not after every restart of workloads', () => {
  const [installing, restarting, done] = [{ waiting: 'Pilot' }, { restarts: RESTARTING }, { restarts: DONE }];
  expect(eventsOf(installing, done, restarting, done, restarting, done)).toEqual([READY]);
  expect(eventsOf(installing, restarting, done)).toEqual([READY]);
});

test('report emits the Event again after a failure or a reinstallation', () => {
  const broken = { failures: [failure('install', 'no')] };
  expect(eventsOf({}, broken, broken, {})).toEqual([
    READY,
    'IstioInstallUninstallFailed: Could not install Istio: no',
    READY,
  ]);
  expect(eventsOf({}, { waiting: 'Pilot' }, {})).toEqual([READY, READY]);
});
