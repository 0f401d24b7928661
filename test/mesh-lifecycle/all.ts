// The scenarios of the mesh lifecycle, and the kinds that they use.
import path from 'node:path';
import { istio, Istio } from '../../src/api/istio.ts';
import { builtinRenderer, mesh, MODULE_NAMESPACE, UNINSTALLED_KINDS } from '../../src/mesh/index.ts';
import type { MeshSettings } from '../../src/mesh/index.ts';
import type { ControllerDefinition } from '../../src/controller/index.ts';
import { defineKind, isAlreadyExists } from '../../src/kube/index.ts';
import type { Client, Kind } from '../../src/kube/index.ts';
import { install } from '../scenarios/install.ts';
import { Scenarios } from '../scenarios/scenario.ts';

export const scenarios = new Scenarios(path.join(import.meta.dirname, 'scenarios'));

export const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });

/** The kinds that exist on every cluster and show the state of the mesh. */
export const KINDS = [
  Istio,
  Namespace,
  defineKind('apps/v1', 'StatefulSet', 'statefulsets'),
  defineKind('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies'),
  ...UNINSTALLED_KINDS.filter(({ group }) => !/(istio\.io|cncf\.io)$/.test(group)),
] as unknown as readonly Kind[];

/** The controllers with the settings of a scenario. */
export function controllersOf(scenario: string): readonly ControllerDefinition[] {
  return mesh({ renderer: builtinRenderer, ...(scenarios.settings(scenario) as Partial<MeshSettings>) });
}

/** Installs our kind and its namespace; resolves when it is served. */
export async function installKinds(client: Client): Promise<void> {
  await install(client, [istio.crd]);
  const metadata = { name: MODULE_NAMESPACE };
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}
