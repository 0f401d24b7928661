// What blocks a deletion: resources that people made and that only Istio understands. They would be lost with its kinds.
import type { AnyObject, Kind } from '../../kube/index.ts';
import { ISTIO_KINDS, servedKind } from '../istio-kinds.ts';
import { ISTIO_NAMESPACE, MODULE_LABEL, MODULE_NAME } from '../names.ts';

/** Objects that Istio or we made, by kind. Patterns are for the whole name and namespace. */
export type ManagedPatterns = Readonly<
  Record<string, readonly { readonly name: string; readonly namespace: string }[]>
>;

const named = (...names: readonly string[]) => names.map((name) => ({ name, namespace: ISTIO_NAMESPACE }));

const MANAGED: ManagedPatterns = {
  EnvoyFilter: named('stats-filter-\\d\\.\\d\\d', 'tcp-stats-filter-\\d\\.\\d\\d', 'kyma-referer', 'proxy-protocol'),
  PeerAuthentication: named('default'),
  VirtualService: named('istio-healthz'),
};

/** The kinds that are looked at. */
export const BLOCKING_KINDS: readonly Kind[] = ISTIO_KINDS.map(servedKind);

/** A test for objects that do not block. Throws for a pattern that is none. */
export function managedTest(patterns: ManagedPatterns): (object: AnyObject) => boolean {
  const compiled = new Map(
    Object.entries(patterns).map(([kind, rows]) => [
      kind,
      rows.map(({ name, namespace }) => ({ name: wholly(name), namespace: wholly(namespace) })),
    ]),
  );
  return ({ kind, metadata: { name, namespace = '', labels = {} } }) =>
    labels[MODULE_LABEL] === MODULE_NAME ||
    (compiled.get(kind) ?? []).some((row) => row.name.test(name) && row.namespace.test(namespace));
}

const isManaged = managedTest(MANAGED);

/** Of the objects of Istio's kinds, those that block, each once, in the order of their names. */
export function blockingResources(objects: Iterable<AnyObject>): readonly AnyObject[] {
  const blocking = new Map<string, AnyObject>();
  for (const object of objects) {
    const { kind, metadata } = object;
    if (!isManaged(object)) blocking.set(`${kind} ${metadata.namespace ?? ''}/${metadata.name}`, object);
  }
  return [...blocking].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
}

/** What kubectl calls a kind that blocks, with its group: other meshes have kinds of the same names. */
export function resourceName(kind: string): string {
  const found = BLOCKING_KINDS.find((each) => each.kind === kind);
  return found === undefined ? kind : `${found.plural}.${found.group}`;
}

/** The most that the status names. */
const MOST = 20;

/** What the status says of them. */
export function blockedBy(blocking: readonly AnyObject[]) {
  return {
    total: blocking.length,
    resources: blocking.slice(0, MOST).map(({ kind, metadata: { name, namespace } }) => ({
      kind,
      ...(namespace !== undefined && { namespace }),
      name,
    })),
  };
}

/** Why the deletion does not go on, for the log. */
export function blockedMessage(blocking: readonly AnyObject[]): string {
  return `could not delete Istio module instance since there are ${blocking.length} customer resources present`;
}

function wholly(pattern: string): RegExp {
  try {
    return new RegExp(`^(?:${pattern})$`);
  } catch (error) {
    throw new Error(`configuration yaml regex check failed for "${pattern}": ${(error as Error).message}`, {
      cause: error,
    });
  }
}
