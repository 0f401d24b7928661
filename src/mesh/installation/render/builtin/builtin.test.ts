// The output of the built-in renderer for each `testdata/NAME.in.yaml` is compared with `NAME.out.yaml`, and becomes
// ready on a cluster. `UPDATE_GOLDEN=1 npx vitest run src/mesh` rewrites the outputs: review the diff.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { goldenOf } from '../../../../../test/support/golden.ts';
import { until } from '../../../../../test/support/until.ts';
import type { IstioSpec } from '../../../../api/istio.ts';
import { startEmbedded } from '../../../../embedded/index.ts';
import type { Embedded } from '../../../../embedded/index.ts';
import { defineKind } from '../../../../kube/index.ts';
import type { AnyKind, AnyObject, Client } from '../../../../kube/index.ts';
import { DISCLAIMER_TEXT, FIELD_MANAGER } from '../../../names.ts';
import { byComponent } from '../../components.ts';
import { desiredOperator } from '../../operator/desired.ts';
import { foundation } from '../../foundation.ts';
import type { IstioOperator } from '../../operator/operator.ts';
import { owned } from '../../ownership.ts';
import { notReady } from '../../readiness.ts';
import { builtinRenderer, renderBuiltin } from './builtin.ts';
import { connectAdmin } from '../../../../../test/support/connect-admin.ts';

const DIR = path.join(import.meta.dirname, 'testdata');
const FACTS = { size: 'Production', flavour: 'unknown', hub: 'docker.io/istio', version: '1.31.0' } as const;

function operatorOf(name: string): IstioOperator {
  const { spec = {}, cluster = {} } = parse(readFileSync(path.join(DIR, `${name}.in.yaml`), 'utf8')) as {
    spec?: IstioSpec;
    cluster?: object;
  };
  return desiredOperator(spec, { ...FACTS, ...cluster });
}

const names = readdirSync(DIR)
  .filter((name) => name.endsWith('.in.yaml'))
  .map((name) => name.replace('.in.yaml', ''));

test.each(names)('renderBuiltin for %s matches its golden output', (name) => {
  const objects = renderBuiltin(operatorOf(name)).filter(({ kind }) => kind !== 'CustomResourceDefinition');
  const text = objects.map((each) => stringify(each, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n');
  expect(text).toBe(goldenOf(text, path.join(DIR, `${name}.out.yaml`)));
});

test('renderBuiltin defines the fifteen kinds of Istio', () => {
  const kinds = renderBuiltin(operatorOf('evaluation')).filter(({ kind }) => kind === 'CustomResourceDefinition');
  expect(kinds).toHaveLength(15);
});

test('builtinRenderer gives equal output for equal input', async () => {
  const [a, b] = [await builtinRenderer.render(operatorOf('evaluation')), renderBuiltin(operatorOf('evaluation'))];
  expect(a).toEqual(b);
});

describe('the rendered objects on an API server', () => {
  let cluster: Embedded;
  let client: Client;

  beforeAll(async () => {
    cluster = await startEmbedded();
    client = connectAdmin(cluster);
  });

  afterAll(async () => {
    client.close();
    await cluster.stop();
  });

  const PLURALS: Readonly<Record<string, string>> = {
    PriorityClass: 'priorityclasses',
  };
  const kindOf = ({ apiVersion, kind, metadata }: AnyObject): AnyKind =>
    defineKind(apiVersion, kind, PLURALS[kind] ?? `${kind.toLowerCase()}s`, {
      namespaced: metadata.namespace !== undefined,
    });

  test('become ready for every component', async () => {
    const objects = renderBuiltin(operatorOf('evaluation'));
    const apply = (object: AnyObject): Promise<unknown> =>
      client.patch(
        kindOf(object),
        object.metadata,
        { type: 'apply', body: object, force: true },
        { fieldManager: FIELD_MANAGER },
      );
    const [namespace] = foundation();
    await client.create(kindOf(namespace!), {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'istio-system', labels: { team: 'a' }, annotations: { note: 'mine' } },
    });
    for (const object of foundation()) await apply(object);
    // Labels and annotations of others on the namespace are kept.
    expect((await client.get(kindOf(namespace!), { name: 'istio-system' })).metadata).toMatchObject({
      labels: { team: 'a', 'namespaces.warden.kyma-project.io/validate': 'enabled' },
      annotations: { note: 'mine', 'istios.operator.kyma-project.io/managed-by-disclaimer': DISCLAIMER_TEXT },
    });
    for (const [, group] of byComponent(objects)) for (const object of group) await apply(owned(object));
    const problems = (): Promise<(string | undefined)[]> =>
      Promise.all(
        objects.map(async (object) =>
          notReady(object, (await client.get(kindOf(object), object.metadata)) as AnyObject),
        ),
      );
    await until(async () => (await problems()).every((problem) => problem === undefined));
    expect(new Set(await problems())).toEqual(new Set([undefined]));
  });
});
