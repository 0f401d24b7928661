// Reads the objects that affect routing, from manifests or from a cluster.
import { DynamicEnv, dynamicEnv } from '../../api/dynamicenv.ts';
import { Deployment } from '../../environments/index.ts';
import { isForbidden, isNotFound } from '../../kube/errors.ts';
import type { Client } from '../../kube/client/client.ts';
import type { AnyKind, AnyObject, Kind, KubeObject } from '../../kube/objects.ts';
import type { Source } from '../../routing/index.ts';
import { ConfigMap, MESH_CONFIG, worldKinds, worldProblem } from '../../traffic/index.ts';
import { CommandFailed, failure, invalidFile } from '../exit.ts';
import { typeProblems } from '../manifests/check.ts';
import { listAll } from '../objects/follow.ts';
import { readSources } from '../routing/sources.ts';

/** All objects of manifests; their namespace defaults to `namespace`. */
export function manifestsOf(path: string, namespace: string): readonly KubeObject[] {
  try {
    const objects = Array.from(readSources([path]), (source) => readObject(source, namespace));
    if (objects.length === 0) throw invalidFile(path, 'it contains no objects');
    return objects;
  } catch (error) {
    // Errors of the manifest reader mention -f.
    if (!(error instanceof CommandFailed) || !error.message.startsWith('-f ')) throw error;
    throw failure('InvalidFile', error.message.replace('-f', '--world'));
  }
}

function readObject({ object, where }: Source, namespace: string): KubeObject {
  const read = withDefaults(withoutNulls(object) as AnyObject);
  const problem = worldProblem(read) ?? (isEnvironment(read) ? typeProblems(read, dynamicEnv)[0] : undefined);
  if (problem !== undefined) throw invalidFile(where(problem.at), problem.message);
  return { ...read, metadata: { ...read.metadata, namespace: read.metadata.namespace ?? namespace } };
}

/** Adds fields that servers always set and people rarely write. */
function withDefaults(object: AnyObject): AnyObject {
  const { spec, status } = object;
  if (isEnvironment(object) && isRecord(status)) {
    return { ...object, status: { subsetsStatus: {}, totalReady: 0, ...status } };
  }
  if (object.kind === Deployment.kind && (spec === undefined || isRecord(spec))) {
    return { ...object, spec: { selector: {}, template: {}, ...spec } };
  }
  return object;
}

export function isEnvironment({ kind, apiVersion }: KubeObject): boolean {
  return kind === DynamicEnv.kind && apiVersion.startsWith(`${DynamicEnv.group}/`);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An API server treats a null field as absent. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null && field !== undefined);
  return Object.fromEntries(fields.map(([key, field]) => [key, withoutNulls(field)]));
}

/** The objects of a cluster; kinds that are not installed are skipped. */
export async function objectsOfCluster(client: Client): Promise<readonly KubeObject[]> {
  const lists = await Promise.all([...worldKinds.map((kind) => listed(client, kind)), meshConfig(client)]);
  return lists.flat();
}

/** The configuration of istiod; none (so its defaults apply) if it is missing or hidden. */
async function meshConfig(client: Client): Promise<readonly KubeObject[]> {
  try {
    return [await client.get(ConfigMap, MESH_CONFIG)];
  } catch (error) {
    if (isNotFound(error) || isForbidden(error)) return [];
    throw error;
  }
}

/** Kinds that affect few requests: if the user may not list them, a warning is enough. */
const OPTIONAL_KINDS = new Set(['Sidecar', 'ServiceEntry', 'Gateway', 'StatefulSet', 'DaemonSet']);

async function listed(client: Client, kind: AnyKind): Promise<readonly KubeObject[]> {
  try {
    // Items of a list have no apiVersion and kind.
    const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
    return (await listAll(client, kind as Kind)).map((object) => ({ ...object, apiVersion, kind: kind.kind }));
  } catch (error) {
    if (isNotFound(error)) return [];
    if (!isForbidden(error) || !OPTIONAL_KINDS.has(kind.kind)) throw error;
    console.error(`Warning: you may not list ${kind.plural}: they are not looked at`);
    return [];
  }
}
