// The kinds of rendered objects, with their resource names, which manifests do not contain.
import { defineKind, defineTable } from '../../kube/index.ts';
import type { AnyObject, Kind } from '../../kube/index.ts';
import { UNINSTALLED_KINDS } from '../deletion/uninstall.ts';
import { ISTIO_KINDS } from '../istio-kinds.ts';
import { COMPONENT_LABEL } from './components.ts';

const PLURALS = new Map(
  [...ISTIO_KINDS, ...UNINSTALLED_KINDS].map(({ group, kind, plural }) => [`${kind}.${group}`, plural]),
);

const kinds = new Map<string, Kind>();
const tables = new Map<string, Kind>();

/** The kind of an object. The plural is known for Istio's kinds, else it follows the rules of English. */
export function kindOf({ apiVersion, kind, metadata }: AnyObject): Kind {
  const namespaced = metadata.namespace !== undefined;
  const id = `${apiVersion} ${kind} ${namespaced}`;
  let known = kinds.get(id);
  if (known === undefined)
    kinds.set(id, (known = defineKind(apiVersion, kind, pluralOf(apiVersion, kind), { namespaced })));
  return known;
}

/** The table of the objects of a kind that an installation made; it caches no objects of others. */
export function installed(kind: Kind): Kind {
  const id = `${kind.group}/${kind.version} ${kind.kind} ${kind.namespaced}`;
  let known = tables.get(id);
  if (known === undefined) tables.set(id, (known = defineTable(kind, { labelSelector: COMPONENT_LABEL })));
  return known;
}

function pluralOf(apiVersion: string, kind: string): string {
  const [group, version] = apiVersion.split('/');
  const known = PLURALS.get(`${kind}.${version === undefined ? '' : group}`);
  if (known !== undefined) return known;
  const name = kind.toLowerCase();
  if (/(s|sh|ch|x)$/.test(name)) return `${name}es`;
  return `${name.replace(/([^aeiou])y$/, '$1ie')}s`;
}
