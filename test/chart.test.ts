// The chart in deploy/chart: its generated files are up to date, and the real Helm renders the same objects from it as
// `offshoot install`.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { chartFiles } from '../scripts/chart.ts';
import { partData } from '../src/cli/install/chart-data.ts';
import { manifestsOf } from '../src/cli/install/manifests.ts';
import { parseValues } from '../src/cli/install/values.ts';
import { version } from '../src/cli/version/version.ts';
import { helms } from './chart/helm.ts';
import { chart, examples, goldenText, idOf, isDefinition, objectsIn } from './chart/values.ts';
import { goldenOf } from './support/golden.ts';

const NAMESPACE = 'platform';
const read = (file: string): string => readFileSync(path.join(chart, file), 'utf8');

describe('the files of the chart', () => {
  test.each([...chartFiles()])('%s is up to date', (file, text) => {
    expect(read(file) === text, `${file} is not current: write it with "npm run chart"`).toBe(true);
  });

  test('have the version of the program', () => {
    expect(parse(read('Chart.yaml'))).toMatchObject({ version: version(), appVersion: version() });
  });

  test('include every value with its default in values.yaml', () => {
    expect(parse(read('values.yaml'))).toEqual(parseValues({}));
  });

  test('give a role the same permissions in all parts that share it', () => {
    const roles = new Map<string, unknown>();
    for (const role of partData.flatMap(({ permissions }) => permissions)) {
      expect(roles.get(idOf(role)) ?? role).toEqual(role);
      roles.set(idOf(role), role);
    }
  });
});

describe('offshoot install', () => {
  test.each(examples)('renders the objects of the golden file for $name', ({ values, golden }) => {
    const text = goldenText(
      manifestsOf({ values: parseValues(values), namespace: NAMESPACE, version: '9.9.9', managedBy: 'Helm' }),
    );
    expect(text).toBe(goldenOf(text, golden));
  });

  test.each([
    [{ parts: { environment: true } }, 'parts: Unrecognized key: "environment"'],
    [{ replicas: 'two' }, 'replicas: Invalid input: expected number, received string'],
    [{ parts: { environments: false } }, 'parts: all are disabled; enable at least one'],
    [{ namespaces: ['a'], parts: { targets: true } }, 'namespaces: only environments stay in namespaces'],
    [{ namespaces: ['a'], dashboard: { enabled: true } }, 'namespaces: only environments stay in namespaces'],
    [{ namespaces: ['A'] }, 'namespaces.0: Invalid string'],
  ])('rejects %j', (values, message) => {
    const render = (): unknown =>
      manifestsOf({ values: parseValues(values), namespace: NAMESPACE, version: '9.9.9', managedBy: 'Helm' });
    expect(render).toThrow(message);
  });
});

describe.each(helms)('$title', ({ run, describeIt }) => {
  describeIt('with the chart', () => {
    const template = (...args: string[]): Promise<string> =>
      run(['template', 'offshoot', chart, '--namespace', NAMESPACE, '--kube-version', '1.36.4', ...args]);

    test.each(examples)('lints $name without errors', async ({ file }) => {
      const output = await run(['lint', '--strict', '--kube-version', '1.36.4', '--values', file, chart]);
      expect(output).toContain('1 chart(s) linted, 0 chart(s) failed');
    });

    test.each(examples)('renders the objects of the golden file for $name', async ({ file, golden }) => {
      const objects = objectsIn((await template('--values', file)).replaceAll(version(), '9.9.9'));
      expect(goldenText(objects)).toBe(goldenOf('', golden, false));
    });

    test.each(examples)('renders the definitions of the parts of $name', async ({ file, values }) => {
      const ours = manifestsOf({
        values: parseValues(values),
        namespace: NAMESPACE,
        version: version(),
        managedBy: 'Helm',
      });
      const rendered = objectsIn(await template('--values', file)).filter(isDefinition);
      const byId = (objects: readonly { kind: string; metadata: { name: string } }[]): unknown =>
        Object.fromEntries(objects.map((each) => [each.metadata.name, each]));
      expect(byId(rendered)).toEqual(byId(ours.filter(isDefinition)));
    });

    test.each([
      ['parts.environment=true', /additional properties 'environment' not allowed/],
      ['replicas=two', /got string, want integer/],
      ['parts.environments=false', /parts: all are disabled; enable at least one/],
      ['namespaces={a},parts.targets=true', /namespaces: only environments stay in namespaces/],
      ['namespaces={a},dashboard.enabled=true', /namespaces: only environments stay in namespaces/],
      ['namespaces={A}', /does not match pattern/],
    ])('rejects %s', async (set, message) => {
      await expect(template('--set', set)).rejects.toThrow(message);
    });
  });
});
