// The real istioctl accepts the IstioOperators that we create, and its objects belong to the expected components.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { IstioSpec } from '../src/api/istio.ts';
import { byComponent, defaultMeshSettings, desiredOperator, istioctlRenderer, owned } from '../src/mesh/index.ts';
import type { InstallationFacts } from '../src/mesh/index.ts';
import { istioNode, istioVersion } from './programs/istio.ts';
import { findPrograms } from './programs/programs.ts';

const found = findPrograms(istioNode, ['istioctl']);
const why = 'missing' in found ? ` (skipped: ${found.missing})` : '';
const DIR = path.resolve(import.meta.dirname, '../src/mesh/installation/operator/testdata');
/** Together they set every field. */
const inputs = ['size-evaluation', 'components', 'config', 'authorizers', 'experimental', 'cni', 'cni-disabled'];

test('the default version of Istio is the one that the tests build', () => {
  expect(defaultMeshSettings.istioVersion).toBe(istioVersion);
});

describe.skipIf('missing' in found)(`the real istioctl${why}`, () => {
  const renderer = istioctlRenderer({ program: 'dir' in found ? path.join(found.dir, 'istioctl') : '' });

  test.each(inputs)('renders %s', async (input) => {
    const { spec = {}, cluster = {} } = parse(readFileSync(path.join(DIR, `${input}.in.yaml`), 'utf8')) as {
      readonly spec?: IstioSpec;
      readonly cluster?: Partial<InstallationFacts>;
    };
    const facts = { size: 'Production', flavour: 'unknown', hub: 'docker.io/istio', version: istioVersion } as const;
    const operator = desiredOperator(spec, { ...facts, ...cluster });
    const components = byComponent(await renderer.render(operator));
    const { cni, egressGateways, ztunnel } = operator.spec.components;
    expect([...components.keys()]).toEqual([
      'Base',
      'Pilot',
      ...(cni.enabled ? ['Cni'] : []),
      'IngressGateways',
      ...(egressGateways[0]!.enabled ? ['EgressGateways'] : []),
      ...(ztunnel?.enabled ? ['Ztunnel'] : []),
    ]);
    const named = (kind: string, name: string) =>
      [...components.values()].flat().find((each) => each.kind === kind && each.metadata.name === name);
    const gateway = named('Deployment', 'istio-ingressgateway')!;
    expect(owned(gateway)['spec']).toMatchObject({
      template: { metadata: { labels: { 'kyma-project.io/module': 'istio' } } },
    });
    const { hpaSpec } = operator.spec.components.ingressGateways[0]!.k8s!;
    expect(named('HorizontalPodAutoscaler', 'istio-ingressgateway')!['spec']).toMatchObject(hpaSpec!);
    // A PodDisruptionBudget for a gateway of one pod would block every drain.
    const budget = named('PodDisruptionBudget', 'istio-ingressgateway');
    expect(budget !== undefined).toBe(facts.size === (cluster.size ?? 'Production') && hpaSpec!.minReplicas! > 1);
  });
});
