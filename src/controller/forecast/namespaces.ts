// Terminating namespaces in a forecast: nothing new is created in them, their objects are deleted, and once they are
// empty they are deleted.
import type { AnyKind, KubeObject } from '../../kube/objects.ts';
import { timestamp } from '../../kube/times.ts';
import { CLUSTER } from './changes.ts';
import type { Planned, Write } from './changes.ts';
import type { ForecastCluster } from './cluster.ts';

export class TerminatingNamespaces {
  readonly #cluster: ForecastCluster;
  readonly #names = new Set<string>();

  constructor(cluster: ForecastCluster) {
    this.#cluster = cluster;
  }

  has(name: string | undefined): boolean {
    return name !== undefined && this.#names.has(name);
  }

  /** Marks a namespace and deletes its objects. */
  terminate(write: Write): void {
    const { before, after } = write;
    const { metadata } = before!;
    this.#names.add(metadata.name);
    const contents = this.#contentsOf(metadata.name);
    const marked = { ...metadata, deletionTimestamp: timestamp(this.#cluster.now()) };
    const isEmpty = contents.length === 0;
    this.#cluster.record({ ...write, after: after ?? (isEmpty ? undefined : { ...before!, metadata: marked }) });
    for (const { kind, object } of contents) {
      if (object.metadata.deletionTimestamp !== undefined) continue;
      this.#cluster.delete(kind, object, { by: CLUSTER, for: write.for });
    }
  }

  /** Deletes a namespace with its last object; a recreated namespace accepts objects again. */
  observe({ kind: written, before, after }: Write): void {
    const { name, namespace } = (after ?? before)!.metadata;
    if (before === undefined && isNamespace(written)) return void this.#names.delete(name);
    if (after !== undefined || namespace === undefined || !this.#names.has(namespace)) return;
    const kind = this.#cluster.kinds.find(isNamespace);
    const object = kind && this.#cluster.get(kind, { name: namespace });
    if (object === undefined || (object.metadata.finalizers ?? []).length > 0) return;
    if (this.#contentsOf(namespace).length > 0) return;
    this.#cluster.record({ kind: kind!, before: object, after: undefined, by: CLUSTER, for: { kind: kind!, object } });
  }

  #contentsOf(namespace: string): readonly Planned[] {
    return this.#cluster.kinds
      .filter(({ namespaced }) => namespaced)
      .flatMap((kind) => this.#cluster.facts.list<KubeObject>(kind, { namespace }).map((object) => ({ kind, object })));
  }
}

export function isNamespace({ kind, group }: AnyKind): boolean {
  return kind === 'Namespace' && group === '';
}
