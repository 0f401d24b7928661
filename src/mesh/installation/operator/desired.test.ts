// Every `testdata/NAME.in.yaml` is a resource and a cluster; `NAME.out.yaml` is the desired IstioOperator: the whole of
// it for the defaults, else the difference to them. `UPDATE_GOLDEN=1 npx vitest run src/mesh` rewrites the outputs:
// review the diff.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import * as z from 'zod';
import { goldenOf } from '../../../../test/support/golden.ts';
import { istio } from '../../../api/istio.ts';
import type { IstioSpec } from '../../../api/istio.ts';
import { createMergePatch } from '../../../kube/index.ts';
import { jsonEqual } from '../../../watchable/index.ts';
import { desiredOperator } from './desired.ts';
import type { InstallationFacts } from './desired.ts';
import { mergeSpec } from './merge.ts';
import { proxyResources } from './merge-components.ts';
import type { IstioOperator } from './operator.ts';

const DIR = path.join(import.meta.dirname, 'testdata');
const Input = z.strictObject({
  about: z.string(),
  cluster: z
    .strictObject({
      size: z.enum(['Evaluation', 'Production']),
      flavour: z.enum(['GKE', 'k3d', 'AWS', 'OpenStack', 'Gardener', 'unknown']),
      elbDeprecated: z.boolean(),
      hasNetworkLoadBalancer: z.boolean(),
      dualStack: z.boolean(),
      disableCni: z.boolean(),
      controlPlaneVPA: z.boolean(),
      imagePullSecret: z.string(),
    })
    .partial()
    .default({}),
  /** Print the whole operator. */
  whole: z.boolean().default(false),
  spec: istio.schemas.spec.default({}),
});

function read(name: string): { readonly facts: InstallationFacts; readonly spec: IstioSpec; readonly whole: boolean } {
  const { cluster, spec, whole } = Input.parse(parse(readFileSync(path.join(DIR, `${name}.in.yaml`), 'utf8')));
  const facts = { size: 'Production', flavour: 'unknown', hub: 'docker.io/istio', version: '1.31.0', ...cluster };
  return { facts: facts as InstallationFacts, spec: spec as IstioSpec, whole };
}

const names = readdirSync(DIR)
  .filter((name) => name.endsWith('.in.yaml'))
  .map((name) => name.replace('.in.yaml', ''));

test.each(names)('desiredOperator for %s matches its golden output', (name) => {
  const { facts, spec, whole } = read(name);
  const plain = desiredOperator({}, { ...read('size-production').facts, size: facts.size });
  const desired = desiredOperator(spec, facts);
  const shown = whole ? desired : (createMergePatch({ ...plain }, { ...desired }, jsonEqual) ?? 'nothing differs');
  const text = stringify(shown, { lineWidth: 0, aliasDuplicateObjects: false });
  expect(text).toBe(goldenOf(text, path.join(DIR, `${name}.out.yaml`)));
});

test('desiredOperator does not modify the defaults', () => {
  const facts = read('size-production').facts;
  const before = JSON.stringify(desiredOperator({}, facts));
  desiredOperator(read('components').spec, facts);
  expect(JSON.stringify(desiredOperator({}, facts))).toBe(before);
});

test.each([
  ['no meshConfig', undefined],
  ['no defaultConfig', {}],
  ['no gatewayTopology', { defaultConfig: {} }],
  ['another number', { defaultConfig: { gatewayTopology: { numTrustedProxies: 1 } } }],
])('mergeSpec sets numTrustedProxies if there is %s', (_what, meshConfig) => {
  const operator = desiredOperator({}, read('size-production').facts);
  const bare = { ...operator, spec: { ...operator.spec, meshConfig } } as unknown as IstioOperator;
  const merged = (spec: IstioSpec) => mergeSpec(bare, spec).spec.meshConfig.defaultConfig?.['gatewayTopology'];
  expect(merged({ config: { numTrustedProxies: 5 } })).toEqual({ numTrustedProxies: 5 });
  expect(merged({})).toEqual(bare.spec.meshConfig?.defaultConfig?.['gatewayTopology']);
});

test('mergeSpec adds an image pull secret only once', () => {
  const operator = desiredOperator({}, { ...read('size-production').facts, imagePullSecret: 'registry' });
  const again = mergeSpec(operator, {}, { imagePullSecret: 'registry' });
  expect(again.spec.values['global']).toEqual(operator.spec.values['global']);
});

test('desiredOperator reports an invalid timeout with its path', () => {
  const spec = { config: { authorizers: [{ name: 'a', service: 's', port: 1, timeout: 'soon' }] } };
  expect(() => desiredOperator(spec, read('size-production').facts)).toThrow(
    'spec.config.authorizers[0].timeout must be a length of time such as 1s, found "soon"',
  );
});

test.each([
  [{ minReplicas: 3, maxReplicas: 2 }, 'minReplicas is 3, and maxReplicas is 2: set both'],
  [{ minReplicas: 6 }, 'minReplicas is 6, and maxReplicas is 5: set both'],
])('desiredOperator reports minReplicas above maxReplicas with the path: %j', (hpaSpec, text) => {
  const spec = { components: { pilot: { k8s: { hpaSpec } } } };
  expect(() => desiredOperator(spec, read('size-production').facts)).toThrow(
    `spec.components.pilot.k8s.hpaSpec: ${text}`,
  );
});

test('desiredOperator reports a request above its default limit with the path', () => {
  const spec = { components: { proxy: { k8s: { resources: { requests: { memory: '2Gi' } } } } } };
  expect(() => desiredOperator(spec, read('size-production').facts)).toThrow(
    'spec.components.proxy.k8s.resources: requests.memory is 2Gi, and limits.memory is 1024Mi: set both',
  );
});

test('proxyResources are those of the profile, overridden by the resource', () => {
  const facts = read('size-production').facts;
  expect(proxyResources(desiredOperator({}, facts))).toEqual({
    requests: { cpu: '10m', memory: '192Mi' },
    limits: { cpu: '1000m', memory: '1024Mi' },
  });
  const resources = { requests: { cpu: '79m' } };
  expect(proxyResources(desiredOperator({ components: { proxy: { k8s: { resources } } } }, facts))).toEqual({
    requests: { cpu: '79m', memory: '192Mi' },
    limits: { cpu: '1000m', memory: '1024Mi' },
  });
});

test('proxyResources is an error if one of them is missing', () => {
  const operator = desiredOperator({}, read('size-production').facts);
  const values = { global: { proxy: { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1' } } } } };
  expect(proxyResources({ ...operator, spec: { ...operator.spec, values } })).toBe(
    'proxy resources missing in merged IstioOperator',
  );
});
