// An API server accepts the manifests of a mesh: the built-in ones, those of the real istioctl, and our own resources.
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

  /** The errors of the server for objects. Nothing is written, because others use this cluster too. */
  async function rejections(objects: readonly AnyObject[]): Promise<string[]> {
    const errors: string[] = [];
    for (const object of objects) {
      // In a namespace that exists.
      const metadata = { ...object.metadata, ...(object.metadata.namespace !== undefined && { namespace }) };
      const body = { ...object, metadata };
      await client
        .patch(
          kindOf(object),
          metadata,
          { type: 'apply', body, force: true },
          { fieldManager: FIELD_MANAGER, dryRun: true },
        )
        .catch((error: unknown) => errors.push(`${object.kind} ${object.metadata.name}: ${String(error)}`));
    }
    return errors;
  }

  test('of the built-in renderer are accepted', async () => {
    const rendered = await builtinRenderer.render(operator);
    const objects = [...foundation(), ...rendered.map((object) => owned(object))];
    expect(await rejections(objects)).toEqual([]);
    expect(objects.length).toBeGreaterThan(30);
  });

  test('that we add to those of Istio are accepted', async () => {
    const { apply } = meshResources({ istio, istioVersion, operatorVersion: '0.1.0', proxyProtocol: true });
    // In a dry run, Istio's kinds do not exist yet.
    const policies = apply.filter(({ kind }) => kind === 'NetworkPolicy');
    expect(await rejections(policies)).toEqual([]);
    expect(policies).toHaveLength(7);
  });

  test.skipIf('missing' in found)('of the real istioctl are accepted', async () => {
    const renderer = istioctlRenderer({ program: path.join('dir' in found ? found.dir : '', 'istioctl') });
    const objects = (await renderer.render(operator)).map((object) => owned(object));
    expect(await rejections(objects)).toEqual([]);
    expect(objects.length).toBeGreaterThan(45);
  });
});
