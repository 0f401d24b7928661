// The objects that decide about requests: of manifests, or of a cluster.
import { isForbidden, isNotFound } from '../../kube/errors.ts';
import type { Client } from '../../kube/client/client.ts';
import type { AnyKind, Kind, KubeObject } from '../../kube/objects.ts';
import { worldKinds } from '../../traffic/index.ts';
import { CommandFailed, failure } from '../exit.ts';
import { listAll } from '../objects/follow.ts';
import { readSources } from '../routing/sources.ts';

/** The objects of manifests. Those that name no namespace are in `namespace`. */
export function objectsOfManifests(path: string, namespace: string): readonly KubeObject[] {
  try {
    const objects = Array.from(readSources([path]), ({ object }) => inNamespace(object as KubeObject, namespace));
    if (objects.length === 0) throw failure(`--world ${path}: there is no object in it`);
    return objects;
  } catch (error) {
    // Whatever reads manifests takes them for those of -f.
    if (!(error instanceof CommandFailed) || !error.message.startsWith('-f ')) throw error;
    throw failure(error.message.replace('-f', '--world'));
  }
}

function inNamespace(object: KubeObject, namespace: string): KubeObject {
  const { metadata } = object;
  return metadata.namespace === undefined ? { ...object, metadata: { ...metadata, namespace } } : object;
}

/** The objects of a cluster; of kinds that it does not know, none. */
export async function objectsOfCluster(client: Client): Promise<readonly KubeObject[]> {
  const lists = await Promise.all(worldKinds.map((kind) => listed(client, kind)));
  return lists.flat();
}

/** What matters to few requests may be hidden from whoever asks; it is told that it is not looked at. */
const SPARED = new Set(['Sidecar', 'ServiceEntry', 'Gateway', 'StatefulSet', 'DaemonSet']);

async function listed(client: Client, kind: AnyKind): Promise<readonly KubeObject[]> {
  try {
    // Items of a list do not say what they are.
    const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
    return (await listAll(client, kind as Kind)).map((object) => ({ ...object, apiVersion, kind: kind.kind }));
  } catch (error) {
    if (isNotFound(error)) return [];
    if (!isForbidden(error) || !SPARED.has(kind.kind)) throw error;
    console.error(`Warning: you may not list ${kind.plural}: they are not looked at`);
    return [];
  }
}
