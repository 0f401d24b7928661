// The scenarios of routing rules, and the kinds that they use.
import path from 'node:path';
import { mesh, Mesh, meshGroup, MeshGroup, routingRule, RoutingRule } from '../../src/api/routing.ts';
import { upstream, Upstream } from '../../src/api/upstream.ts';
import { appMeshDefinitions } from '../../src/embedded/crd/bundled/app-mesh.ts';
import type { AnyObject, Client, Kind } from '../../src/kube/index.ts';
import { AppMesh, Pod, VirtualNode, VirtualRouter, VirtualService } from '../../src/routing/objects.ts';
import { install } from '../scenarios/install.ts';
import { Scenarios } from '../scenarios/scenario.ts';

export const scenarios = new Scenarios(path.join(import.meta.dirname, 'scenarios'));

/** The kinds that the controllers create. */
export const MADE = [AppMesh, VirtualNode, VirtualRouter, VirtualService] as unknown as readonly Kind[];

export const KINDS = [...MADE, Mesh, MeshGroup, RoutingRule, Upstream, Pod] as unknown as readonly Kind[];

/** Installs our kinds and those of the App Mesh controller; resolves when they are served. */
export function installKinds(client: Client): Promise<void> {
  const ours = [mesh, meshGroup, routingRule, upstream].map(({ crd }) => crd);
  return install(client, [...ours, ...(Object.values(appMeshDefinitions()) as unknown as AnyObject[])]);
}
