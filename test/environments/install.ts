// Installs what a cluster needs for environments: the kinds of Istio and our own.
import { dynamicEnv } from '../../src/api/dynamicenv.ts';
import { istioDefinitions } from '../../src/embedded/crd/bundled/istio.ts';
import type { Client } from '../../src/kube/client/client.ts';
import type { AnyObject } from '../../src/kube/objects.ts';
import { install } from '../scenarios/install.ts';

const ISTIO = ['virtualservices.networking.istio.io', 'destinationrules.networking.istio.io'];

/** Installs the kinds that environments need; resolves when they are served. */
export async function installKinds(client: Client): Promise<void> {
  await install(client, [dynamicEnv.crd]);
  await installIstioKinds(client);
}

/** Installs only the kinds of Istio. */
export async function installIstioKinds(client: Client): Promise<void> {
  const istio = istioDefinitions();
  await install(
    client,
    ISTIO.map((name) => istio[name] as AnyObject),
  );
}
