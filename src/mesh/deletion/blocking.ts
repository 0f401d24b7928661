// Resources that block a deletion: users made them of Istio's kinds, and they would be lost with these kinds.
import type { AnyObject, Kind } from '../../kube/index.ts';
import { ISTIO_KINDS, servedKind } from '../istio-kinds.ts';
import { ISTIO_NAMESPACE, MODULE_LABEL, MODULE_NAME } from '../names.ts';

/** Objects that Istio or we made, by kind. The patterns match the whole name and namespace. */
export type ManagedPatterns = Readonly<
  Record<string, readonly { readonly name: string; readonly namespace: string }[]>
>;

const named = (...names: readonly string[]) => names.map((name) => ({ name, namespace: ISTIO_NAMESPACE }));

const MANAGED: ManagedPatterns = {
  EnvoyFilter: named('stats-filter-\\d\\.\\d\\d', 'tcp-stats-filter-\\d\\.\\d\\d', 'kyma-referer', 'proxy-protocol'),
  PeerAuthentication: named('default'),
  VirtualService: named('istio-healthz'),
};

/** The kinds whose objects can block a deletion. */
export const BLOCKING_KINDS: readonly Kind[] = ISTIO_KINDS.map(servedKind);

/** A test for objects that do not block. Throws if a pattern is invalid. */
export function managedTest(patterns: ManagedPatterns): (object: AnyObject) => boolean {
  const compiled = new Map(
    Object.entries(patterns).map(([kind, rows]) => [
      kind,
      rows.map(({ name, namespace }) => ({ name: wholePattern(name), namespace: wholePattern(namespace) })),
    ]),
  );
  return ({ kind, metadata: { name, namespace = '', labels = {} } }) =>
    labels[MODULE_LABEL] === MODULE_NAME ||
    (compiled.get(kind) ?? []).some((row) => row.name.test(name) && row.namespace.test(namespace));
}

const isManaged = managedTest(MANAGED);

/** The objects of Istio's kinds that block, each once, sorted by kind and name. */
export function blockingResources(objects: Iterable<AnyObject>): readonly AnyObject[] {
  const blocking = new Map<string, AnyObject>();
  for (const object of objects) {
    const { kind, metadata } = object;
    if (!isManaged(object)) blocking.set(`${kind} ${metadata.namespace ?? ''}/${metadata.name}`, object);
  }
  return [...blocking].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
}

/** The resource name of a kind for kubectl, with its group, as other meshes have kinds with the same names. */
export function resourceName(kind: string): string {
  const found = BLOCKING_KINDS.find((each) => each.kind === kind);
  return found === undefined ? kind : `${found.plural}.${found.group}`;
}

/** The maximum number of resources in the status. */
const MAX_LISTED = 20;

/** The blocking resources for the status. */
export function blockedBy(blocking: readonly AnyObject[]) {
  return {
    total: blocking.length,
    resources: blocking.slice(0, MAX_LISTED).map(({ kind, metadata: { name, namespace } }) => ({
      kind,
      ...(namespace !== undefined && { namespace }),
      name,
    })),
  };
}

/** Why the deletion is blocked, for the log. */
export function blockedMessage(blocking: readonly AnyObject[]): string {
  return `could not delete Istio module instance since there are ${blocking.length} customer resources present`;
}

function wholePattern(pattern: string): RegExp {
  try {
    return new RegExp(`^(?:${pattern})$`);
  } catch (error) {
    throw new Error(`configuration yaml regex check failed for "${pattern}": ${(error as Error).message}`, {
      cause: error,
    });
  }
}
