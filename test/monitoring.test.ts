// The alerts and the Grafana dashboard on a real Prometheus with the metrics of real control planes: no alert fires
// while all is healthy, every alert fires when there is trouble, and every panel has data.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ROWS } from '../scripts/grafana.ts';
import { declaredMetrics } from '../scripts/metrics.ts';
import { alerts } from '../src/cli/install/chart-data.ts';
import { checkRules, prometheusRequirement, startPrometheus, testRules } from './monitoring/prometheus.ts';
import type { Prometheus } from './monitoring/prometheus.ts';
import { ALERT_CASES } from './monitoring/alert-cases.ts';
import { recordTrouble } from './monitoring/trouble.ts';
import type { Recording } from './monitoring/trouble.ts';
import { describeRequiring } from './support/requirements.ts';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

const rules = alerts as unknown as readonly Alert[];
/** Replaces the variables of Grafana. */
const filledIn = (expr: string): string => expr.replaceAll('$job', '.+').replaceAll('$__rate_interval', '5m');
const queries = ROWS.flatMap(({ title: row, panels }) =>
  panels.flatMap(({ title, queries: each }) =>
    each.map(({ expr, legend }) => [`${row}: ${title}${legend === '' ? '' : ` (${legend})`}`, filledIn(expr)] as const),
  ),
);

/** Metrics with their labels in Prometheus, including those that it adds itself. */
const known = new Map(
  declaredMetrics().flatMap(({ name, type, labels }) =>
    (type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']).map((suffix) => [
      `${name}${suffix}`,
      new Set([...labels, 'job', 'instance', ...(suffix === '_bucket' ? ['le'] : [])]),
    ]),
  ),
);

describe.each(rules)('$alert', ({ labels, annotations }) => {
  test('has a severity, a summary and a runbook of one line each', () => {
    expect(['critical', 'warning', 'info']).toContain(labels.severity);
    expect(annotations.summary).toMatch(/^[^\n]+\.$/);
    expect(annotations.runbook).toMatch(/^[^\n]+\.$/);
  });
});

test('every alert has a test case, and every test case an alert', () => {
  expect(Object.keys(ALERT_CASES).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
});

describeRequiring('promtool', [prometheusRequirement], () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'offshoot-rules-'));
    writeFileSync(path.join(dir, 'rules.yaml'), stringify({ groups: [{ name: 'offshoot', rules: alerts }] }));
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  test('accepts the rules', async () => {
    expect(await checkRules(path.join(dir, 'rules.yaml'))).toContain(`SUCCESS: ${alerts.length} rules found`);
  });

  test.each(rules)('fires $alert in its minute, and not a minute before', async ({ alert, labels, annotations }) => {
    const { series, firesAfter, labels: more, summary } = ALERT_CASES[alert]!;
    const expected = { exp_labels: { ...labels, ...more }, exp_annotations: { ...annotations, summary } };
    const file = path.join(dir, `${alert}.yaml`);
    writeFileSync(
      file,
      stringify({
        rule_files: ['rules.yaml'],
        evaluation_interval: '1m',
        tests: [
          {
            interval: '1m',
            input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
            alert_rule_test: [
              { alertname: alert, eval_time: `${firesAfter - 1}m`, exp_alerts: [] },
              { alertname: alert, eval_time: `${firesAfter}m`, exp_alerts: [expected] },
            ],
          },
        ],
      }),
    );
    expect(await testRules(file)).toContain('SUCCESS');
  });
});

describeRequiring('a real Prometheus', [prometheusRequirement], () => {
  let recording: Recording;
  let prometheus: Prometheus;

  beforeAll(async () => {
    recording = await recordTrouble();
    prometheus = await startPrometheus(recording.scrapes);
  }, 180_000);
  afterAll(() => prometheus?.stop());

  test.each([...rules.map(({ alert, expr }) => [alert, expr] as const), ...queries])(
    'has all metrics and labels of a query: %s',
    async (_title, expr) => {
      const selectors = await prometheus.selectors(expr);
      expect(selectors.length).toBeGreaterThan(0);
      for (const { name, labels } of selectors) {
        expect([...known.keys()]).toContain(name);
        expect(labels.filter((label) => !known.get(name)!.has(label))).toEqual([]);
      }
    },
  );

  test.each(rules)('fires $alert when there is trouble, and not while all is healthy', async ({ expr }) => {
    expect(await prometheus.count(expr, recording.healthyAt)).toBe(0);
    const counts = await Promise.all(recording.troubledAt.map((at) => prometheus.count(expr, at)));
    expect(Math.max(...counts)).toBeGreaterThan(0);
  });

  test.each(queries)('returns data for a panel of the dashboard: %s', async (_title, expr) => {
    const counts = await Promise.all(recording.troubledAt.map((at) => prometheus.count(expr, at)));
    expect(Math.max(...counts)).toBeGreaterThan(0);
  });
});
