// Metrics of environments, with names that dashboards use.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { conditionsOf, countByCondition, countByState } from '../../controller/index.ts';
import type { TableGauge } from '../../controller/index.ts';
import { isInserted } from '../../traffic/istio/inserted-routes.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import { STATES, stateOf } from '../describe/state.ts';
import { findOrphans } from '../orphans/orphans.ts';
import { ISOLATED } from '../proofs/isolated.ts';
import { isDistributed } from '../routes/observe.ts';
import type { Settings } from '../settings.ts';

/** The number of environments by state, and of orphans. */
export function environmentGauges(settings: Settings): readonly TableGauge[] {
  return [...ofEnvironments, ofOrphans(settings)];
}

const RESULTS: Readonly<Record<string, string>> = { True: 'proved', False: 'refuted', Unknown: 'undecided' };

const ofEnvironments: readonly TableGauge[] = [
  countByState({
    name: 'offshoot_environments',
    help: 'Environments by state',
    kind: DynamicEnv,
    states: STATES,
    stateOf,
  }),
  countByCondition('offshoot_environment_conditions', 'Environments by condition', DynamicEnv),
  countByState({
    name: 'offshoot_proofs',
    help: 'Environments by the result of their isolation proof',
    label: 'result',
    kind: DynamicEnv,
    states: Object.values(RESULTS),
    stateOf: (env) => RESULTS[conditionsOf(env).find(({ type }) => type === ISOLATED)?.status ?? ''],
  }),
  {
    name: 'offshoot_undistributed_virtual_services',
    help: 'VirtualServices with routes of environments that, according to istiod, not every proxy has received',
    labels: [],
    series(facts) {
      const behind = facts
        .list(VirtualService)
        .filter((service) => isDistributed(service) === false && service.spec?.http?.some(isInserted));
      return [{ labels: {}, value: behind.length }];
    },
  },
  {
    name: 'dynamic_environments',
    help: 'Environments by namespace',
    labels: ['namespace'],
    series(facts) {
      const counts = new Map<string, number>();
      for (const { metadata } of facts.list(DynamicEnv)) {
        counts.set(metadata.namespace ?? '', (counts.get(metadata.namespace ?? '') ?? 0) + 1);
      }
      return [...counts].map(([namespace, value]) => ({ labels: { namespace }, value }));
    },
  },
  {
    name: 'degraded_dynamic_environments',
    help: '1 for each environment that is degraded',
    labels: ['namespace', 'name'],
    series: (facts) =>
      facts
        .list(DynamicEnv)
        .filter(({ status }) => status?.state === 'degraded')
        .map(({ metadata: { namespace = '', name } }) => ({ labels: { namespace, name }, value: 1 })),
  },
];

function ofOrphans(settings: Settings): TableGauge {
  return {
    name: 'offshoot_orphaned_objects',
    help: 'Orphans: clones, rules and VirtualServices with routes of environments that are gone; certain if Offshoot may remove them',
    labels: ['kind', 'certain'],
    series(facts) {
      const counts = new Map<string, number>();
      for (const { kind, doubt } of findOrphans(facts, settings)) {
        const id = `${kind.kind} ${doubt === undefined}`;
        counts.set(id, (counts.get(id) ?? 0) + 1);
      }
      return [...counts].map(([id, value]) => {
        const [kind = '', certain = ''] = id.split(' ');
        return { labels: { kind, certain }, value };
      });
    },
  };
}
