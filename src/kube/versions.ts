// Resource versions: opaque in general, but ordered within one kind where they are decimal numbers, as on every etcd.
import type { KubeObject } from './objects.ts';

const DECIMAL = /^(?:0|[1-9]\d*)$/;

/** Negative, zero or positive if `a` is older than, equal to or newer than `b`; undefined if they can't be compared. */
export function compareVersions(a: string | undefined, b: string | undefined): number | undefined {
  if (a === undefined || b === undefined || !DECIMAL.test(a) || !DECIMAL.test(b)) return undefined;
  // They may exceed 2^53, so they are compared as strings.
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Whether a message about one version may replace another. If the versions can't be compared, an event may, because the
 * watch sends them in order, and the answer to a write may not, because a newer event may have arrived before it.
 */
export function supersedes(version: string | undefined, than: string | undefined, observed: boolean): boolean {
  if (than === undefined) return true;
  const order = compareVersions(version, than);
  return order === undefined ? !observed : order > 0;
}

/** Whether both are the same state of the same object. */
export function sameVersion(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;
}
