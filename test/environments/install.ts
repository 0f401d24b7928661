// What a cluster needs before environments can run on it: the kinds of Istio and our own.
import { dynamicEnv } from '../../src/api/dynamicenv.ts';
import { istioDefinitions } from '../../src/embedded/crd/bundled/istio.ts';
import type { Client } from '../../src/kube/client.ts';
import { defineKind } from '../../src/kube/objects.ts';
import type { AnyObject } from '../../src/kube/objects.ts';
import { until } from '../support/until.ts';

const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
  namespaced: false,
});
const ISTIO = ['virtualservices.networking.istio.io', 'destinationrules.networking.istio.io'];

/** Installs the kinds that environments need; resolves when they are served. */
export async function installKinds(client: Client): Promise<void> {
  const istio = istioDefinitions();
  const definitions = [dynamicEnv.crd, ...ISTIO.map((name) => istio[name] as AnyObject)];
  await Promise.all(definitions.map((definition) => install(client, definition)));
}

async function install(client: Client, definition: AnyObject): Promise<void> {
  const patch = { type: 'apply', body: definition, force: true } as const;
  await client.patch(Definition, definition.metadata, patch, { fieldManager: 'test' });
  await until(async () => {
    const { status } = (await client.get(Definition, definition.metadata)) as {
      status?: { conditions?: { type: string; status: string }[] };
    };
    return status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false;
  }, 20_000);
}
