// Rendered manifests: parses the stream of YAML documents, and defines the order in which objects are applied.
import { parseDocument } from 'yaml';
import { keyOf } from '../../../kube/index.ts';
import type { AnyObject } from '../../../kube/index.ts';
import { RenderError } from './renderer.ts';

/**
 * Parses a stream of documents. It can exceed a megabyte, so `pause` is awaited between documents to keep the event
 * loop responsive. Throws a RenderError that says which document is not an object.
 */
export async function parseManifests(text: string, pause: () => Promise<void>): Promise<readonly AnyObject[]> {
  const objects: AnyObject[] = [];
  const seen = new Set<string>();
  for (const [index, part] of text.split(/^---.*\n/m).entries()) {
    await pause();
    const document = parseDocument(part, { version: '1.1' });
    const [error] = document.errors;
    if (error !== undefined) throw new RenderError(`document ${index} is not YAML: ${error.message}`);
    const object = document.toJS() as unknown;
    if (object === null || object === undefined) continue;
    const problem = shapeProblem(object);
    if (problem !== undefined) throw new RenderError(`document ${index} is not a Kubernetes object: ${problem}`);
    const identity = objectIdentity(object as AnyObject);
    if (seen.has(identity)) throw new RenderError(`document ${index} is ${identity}, which is a duplicate`);
    seen.add(identity);
    objects.push(object as AnyObject);
  }
  if (objects.length === 0) throw new RenderError('it contains no objects');
  return objects;
}

function shapeProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return `found ${JSON.stringify(value).slice(0, 80)}`;
  }
  const { apiVersion, kind, metadata } = value as Partial<AnyObject>;
  if (typeof apiVersion !== 'string' || apiVersion === '') return 'it has no apiVersion';
  if (typeof kind !== 'string' || kind === '') return 'it has no kind';
  return typeof metadata?.name === 'string' && metadata.name !== '' ? undefined : 'it has no metadata.name';
}

/** Identifies an object, independent of its version. */
export function objectIdentity({ apiVersion, kind, metadata }: AnyObject): string {
  const slash = apiVersion.indexOf('/');
  return `${kind}.${slash < 0 ? '' : apiVersion.slice(0, slash)} ${keyOf(metadata)}`;
}

/** Kinds in the order in which they are applied; other kinds are applied together with workloads. */
const ORDER = [
  'Namespace',
  'PriorityClass',
  'CustomResourceDefinition',
  'ServiceAccount',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'ResourceQuota',
  'Secret',
  'ConfigMap',
  'Service',
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
];
const LAST = ['PodDisruptionBudget', 'HorizontalPodAutoscaler'];

/** Objects in the order in which they are applied: referenced ones first; of one kind by name, to be deterministic. */
export function applyOrder(objects: readonly AnyObject[]): readonly AnyObject[] {
  return objects.toSorted((a, b) => rank(a) - rank(b) || compare(objectIdentity(a), objectIdentity(b)));
}

function rank({ kind }: AnyObject): number {
  const [early, late] = [ORDER.indexOf(kind), LAST.indexOf(kind)];
  return early >= 0 ? early : late >= 0 ? ORDER.length + 1 + late : ORDER.length;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
