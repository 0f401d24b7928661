// Tables of manifests: the objects of a cluster after they are applied, for plans and checks without a cluster.
import type { AnyKind, KubeObject } from '../objects.ts';
import { identityOf } from '../objects.ts';
import { Tables } from './tables.ts';

/**
 * Tables that hold these objects. Tables of other kinds are empty, so `kinds` must name all that will be read. Of two
 * objects with the same name, the later wins.
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
