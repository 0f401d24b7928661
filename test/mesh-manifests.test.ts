// What we make of a mesh is what an API server takes: the built-in manifests, those of the real istioctl, and the resources
// beside Istio's own.
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Istio } from '../src/api/istio.ts';
import { defineKind } from '../src/kube/index.ts';
import type { AnyKind, AnyObject, Client } from '../src/kube/index.ts';
import {
  builtinRenderer,
  desiredOperator,
  FIELD_MANAGER,
  foundation,
  istioctlRenderer,
  meshResources,
  owned,
} from '../src/mesh/index.ts';
import { describeClusters } from './cluster/index.ts';
import { istioNode, istioVersion } from './programs/istio.ts';
import { findPrograms } from './programs/programs.ts';

const PLURALS: Readonly<Record<string, string>> = {
  PriorityClass: 'priorityclasses',
  NetworkPolicy: 'networkpolicies',
};

function kindOf({ apiVersion, kind, metadata }: AnyObject): AnyKind {
  return defineKind(apiVersion, kind, PLURALS[kind] ?? `${kind.toLowerCase()}s`, {
    namespaced: metadata.namespace !== undefined,
  });
}

const istio: Istio = {
  apiVersion: 'operator.kyma-project.io/v1alpha2',
  kind: 'Istio',
  metadata: { name: 'default', namespace: 'kyma-system', uid: 'b5f3a4b0-0000-4000-8000-000000000000' },
  spec: { networkPoliciesEnabled: true, components: { egressGateway: { enabled: true } } },
};

const found = findPrograms(istioNode, ['istioctl']);
const facts = { size: 'Production', flavour: 'unknown', hub: 'docker.io/istio', version: istioVersion } as const;
const operator = desiredOperator(istio.spec!, facts);

describeClusters('the manifests of a mesh', (cluster) => {
  let client: Client;
  let namespace: string;

  beforeAll(async () => {
    client = cluster.client();
    namespace = await cluster.namespace('mesh');
  });

  /** What the server says against objects. Nothing is written: others use this cluster too. */
  async function refused(objects: readonly AnyObject[]): Promise<string[]> {
    const refusals: string[] = [];
    for (const object of objects) {
      // In a namespace that is there.
      const metadata = { ...object.metadata, ...(object.metadata.namespace !== undefined && { namespace }) };
      const body = { ...object, metadata };
      await client
        .patch(
          kindOf(object),
          metadata,
          { type: 'apply', body, force: true },
          { fieldManager: FIELD_MANAGER, dryRun: true },
        )
        .catch((error: unknown) => refusals.push(`${object.kind} ${object.metadata.name}: ${String(error)}`));
    }
    return refusals;
  }

  test('are accepted as the built-in renderer makes them', async () => {
    const rendered = await builtinRenderer.render(operator);
    const objects = [...foundation(), ...rendered.map((object) => owned(object))];
    expect(await refused(objects)).toEqual([]);
    expect(objects.length).toBeGreaterThan(30);
  });

  test('are accepted as we add them beside those of Istio', async () => {
    const { apply } = meshResources({ istio, istioVersion, operatorVersion: '0.1.0', proxyProtocol: true });
    // Istio's kinds are not there yet in a dry run.
    const policies = apply.filter(({ kind }) => kind === 'NetworkPolicy');
    expect(await refused(policies)).toEqual([]);
    expect(policies).toHaveLength(7);
  });

  test.skipIf('missing' in found)('are accepted as the real istioctl makes them', async () => {
    const renderer = istioctlRenderer({ program: path.join('dir' in found ? found.dir : '', 'istioctl') });
    const objects = (await renderer.render(operator)).map((object) => owned(object));
    expect(await refused(objects)).toEqual([]);
    expect(objects.length).toBeGreaterThan(45);
  });
});
