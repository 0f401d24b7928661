// Metrics of environments, under names that dashboards know.
import { DynamicEnv } from '../api/dynamicenv.ts';
import type { TableGauge } from '../controller/index.ts';

/** How many environments there are, and which of them are degraded. */
export const environmentGauges: readonly TableGauge[] = [
  {
    name: 'dynamic_environments',
    help: 'Environments by namespace',
    labels: ['namespace'],
    series(tables) {
      const counts = new Map<string, number>();
      for (const { metadata } of tables.of(DynamicEnv).list()) {
        counts.set(metadata.namespace ?? '', (counts.get(metadata.namespace ?? '') ?? 0) + 1);
      }
      return [...counts].map(([namespace, value]) => ({ labels: { namespace }, value }));
    },
  },
  {
    name: 'degraded_dynamic_environments',
    help: '1 for each environment that is degraded',
    labels: ['namespace', 'name'],
    series: (tables) =>
      tables
        .of(DynamicEnv)
        .list()
        .filter(({ status }) => status?.state === 'degraded')
        .map(({ metadata: { namespace = '', name } }) => ({ labels: { namespace, name }, value: 1 })),
  },
];
