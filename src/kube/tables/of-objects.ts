// Tables of manifests: what a cluster would have after they are applied, for plans and checks without a cluster.
import type { AnyKind, KubeObject } from '../objects.ts';
import { identityOf } from '../objects.ts';
import { Tables } from './tables.ts';

/**
 * Tables that hold some objects. Tables that are not named here are empty, so all that will be read must be. Of two
 * objects with one name, the later counts.
 */
export function tablesOf(kinds: Iterable<AnyKind>, objects: Iterable<KubeObject>): Tables {
  const tables = new Tables(kinds);
  const byKind = Map.groupBy([...tables], ({ kind }) => `${kind.group}/${kind.kind}`);
  let version = 0;
  for (const object of objects) {
    const group = object.apiVersion.includes('/') ? object.apiVersion.split('/')[0]! : '';
    for (const table of byKind.get(`${group}/${object.kind}`) ?? []) {
      const { namespace, ...rest } = object.metadata;
      const metadata = table.kind.namespaced && namespace !== undefined ? { ...rest, namespace } : rest;
      const uid = metadata.uid ?? `manifest ${identityOf(table.kind, metadata)}`;
      table.observe({ ...object, metadata: { generation: 1, ...metadata, uid, resourceVersion: String(++version) } });
    }
  }
  return tables;
}
