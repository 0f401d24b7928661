// Metrics of environments, under names that dashboards know.
import { DynamicEnv } from '../api/dynamicenv.ts';
import type { TableGauge } from '../controller/index.ts';
import { findOrphans } from './orphans.ts';
import type { Settings } from './settings.ts';

/** How many environments there are, which of them are degraded, and what others left behind. */
export function environmentGauges(settings: Settings): readonly TableGauge[] {
  return [...ofEnvironments, ofOrphans(settings)];
}

const ofEnvironments: readonly TableGauge[] = [
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
    help: 'Clones, rules and VirtualServices with routes of environments that are gone; certain: ours to remove',
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
