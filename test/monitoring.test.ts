// The alerts and the dashboard for Grafana, judged by a real Prometheus that has what real control planes reported: no alert
// while all is well, every alert when something is wrong, and something to see in every panel.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ROWS } from '../scripts/grafana.ts';
import { declaredMetrics } from '../scripts/metrics.ts';
import { alerts } from '../src/cli/install/chart-data.ts';
import { checkRules, needsPrometheus, startPrometheus, testRules } from './monitoring/prometheus.ts';
import type { Prometheus } from './monitoring/prometheus.ts';
import { ALERT_CASES } from './monitoring/alert-cases.ts';
import { tellStory } from './monitoring/trouble.ts';
import type { Story } from './monitoring/trouble.ts';
import { describeNeeding } from './support/needs.ts';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

const rules = alerts as unknown as readonly Alert[];
/** With what Grafana would fill in. */
const filledIn = (expr: string): string => expr.replaceAll('$job', '.+').replaceAll('$__rate_interval', '5m');
const queries = ROWS.flatMap(({ title: row, panels }) =>
  panels.flatMap(({ title, queries: each }) =>
    each.map(({ expr, legend }) => [`${row}: ${title}${legend === '' ? '' : ` (${legend})`}`, filledIn(expr)] as const),
  ),
);

/** Metrics with their labels as Prometheus has them, those that it adds itself included. */
const known = new Map(
  declaredMetrics().flatMap(({ name, type, labels }) =>
    (type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']).map((suffix) => [
      `${name}${suffix}`,
      new Set([...labels, 'job', 'instance', ...(suffix === '_bucket' ? ['le'] : [])]),
    ]),
  ),
);

describe.each(rules)('$alert', ({ labels, annotations }) => {
  test('says how bad it is, what it is and what to do, in a line each', () => {
    expect(['critical', 'warning', 'info']).toContain(labels.severity);
    expect(annotations.summary).toMatch(/^[^\n]+\.$/);
    expect(annotations.runbook).toMatch(/^[^\n]+\.$/);
  });
});

test('there is a case for every alert, and for no other', () => {
  expect(Object.keys(ALERT_CASES).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
});

describeNeeding('promtool', [needsPrometheus], () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'offshoot-rules-'));
    writeFileSync(path.join(dir, 'rules.yaml'), stringify({ groups: [{ name: 'offshoot', rules: alerts }] }));
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  test('finds nothing to complain of', async () => {
    expect(await checkRules(path.join(dir, 'rules.yaml'))).toContain(`SUCCESS: ${alerts.length} rules found`);
  });

  test.each(rules)(
    '$alert fires as soon as it should, and no minute before',
    async ({ alert, labels, annotations }) => {
      const { series, firesAfter, labels: more, summary } = ALERT_CASES[alert]!;
      const told = { exp_labels: { ...labels, ...more }, exp_annotations: { ...annotations, summary } };
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
                { alertname: alert, eval_time: `${firesAfter}m`, exp_alerts: [told] },
              ],
            },
          ],
        }),
      );
      expect(await testRules(file)).toContain('SUCCESS');
    },
  );
});

describeNeeding('a real Prometheus', [needsPrometheus], () => {
  let story: Story;
  let prometheus: Prometheus;

  beforeAll(async () => {
    story = await tellStory();
    prometheus = await startPrometheus(story.scrapes);
  }, 180_000);
  afterAll(() => prometheus?.stop());

  test.each([...rules.map(({ alert, expr }) => [alert, expr] as const), ...queries])(
    'metrics and labels exist: %s',
    async (_title, expr) => {
      const selectors = await prometheus.selectors(expr);
      expect(selectors.length).toBeGreaterThan(0);
      for (const { name, labels } of selectors) {
        expect([...known.keys()]).toContain(name);
        expect(labels.filter((label) => !known.get(name)!.has(label))).toEqual([]);
      }
    },
  );

  test.each(rules)('no $alert while all is well, and one when something is wrong', async ({ expr }) => {
    expect(await prometheus.count(expr, story.well)).toBe(0);
    const counts = await Promise.all(story.wrong.map((at) => prometheus.count(expr, at)));
    expect(Math.max(...counts)).toBeGreaterThan(0);
  });

  test.each(queries)('the dashboard shows something: %s', async (_title, expr) => {
    const counts = await Promise.all(story.wrong.map((at) => prometheus.count(expr, at)));
    expect(Math.max(...counts)).toBeGreaterThan(0);
  });
});
