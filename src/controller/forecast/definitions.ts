// CustomResourceDefinitions in a forecast: a kind is served once it is defined, and when its definition is deleted, all
// objects of the kind are deleted as well.
import type { AnyKind, KubeObject } from '../../kube/objects.ts';
import { CLUSTER } from './changes.ts';
import type { Write } from './changes.ts';
import type { ForecastCluster } from './cluster.ts';

export class Definitions {
  readonly #cluster: ForecastCluster;

  constructor(cluster: ForecastCluster) {
    this.#cluster = cluster;
  }

  observe({ kind, after, before }: Write): void {
    if (!isDefinition(kind) || (after === undefined) === (before === undefined)) return;
    const { name } = (after ?? before)!.metadata;
    const defined = this.#cluster.kinds.filter(({ plural, group }) => `${plural}.${group}` === name);
    if (after === undefined) for (const each of defined) this.#removeAll(each);
    for (const each of defined) this.#cluster.whatIf.serve(each, after !== undefined);
  }

  #removeAll(kind: AnyKind): void {
    for (const object of this.#cluster.facts.list<KubeObject>(kind)) {
      this.#cluster.record({ kind, before: object, after: undefined, by: CLUSTER, for: { kind, object } });
    }
  }
}

/** A definition as the server stores it: the kind is served at once. Other objects are not changed. */
export function established(kind: AnyKind, object: KubeObject): KubeObject {
  if (!isDefinition(kind) || 'status' in object) return object;
  const defined: KubeObject & { status: object } = {
    ...object,
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  };
  return defined;
}

function isDefinition({ kind, group }: AnyKind): boolean {
  return kind === 'CustomResourceDefinition' && group === 'apiextensions.k8s.io';
}
