// Lists all declared metrics of the controllers, for the reference page, and for tests that check that alerts and the
// Grafana dashboard use existing metrics.
import { partsOf } from '../src/cli/run/parts.ts';
import { METRICS } from '../src/controller/index.ts';
import type { MetricDefinition } from '../src/controller/index.ts';

export interface DeclaredMetric extends MetricDefinition {
  /** The part whose controllers report the metric; undefined for metrics of every process. */
  readonly part?: string;
}

export function declaredMetrics(): readonly DeclaredMetric[] {
  const config = { server: 'https://localhost' };
  const ofParts = partsOf().flatMap((each) =>
    each
      .controllers({ settings: {}, config, namespace: 'offshoot' })
      .flatMap(({ gauges, counters, timings }) => [
        ...(gauges ?? []).map((metric) => ({ ...metric, part: each.name, type: 'gauge' as const })),
        ...(counters ?? []).map((metric) => ({ ...metric, part: each.name, type: 'counter' as const })),
        ...(timings ?? []).map((metric) => ({ ...metric, part: each.name, type: 'histogram' as const })),
      ]),
  );
  return [...Object.values<MetricDefinition>(METRICS), ...ofParts];
}
