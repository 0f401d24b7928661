// The garbage collector of Kubernetes in a forecast: it deletes objects that have lost their last owner.
import type { KubeObject } from '../../kube/objects.ts';
import { CLUSTER } from './changes.ts';
import type { Planned, Write } from './changes.ts';
import type { ForecastCluster } from './cluster.ts';

export class GarbageCollector {
  readonly #cluster: ForecastCluster;
  /** Deleted objects by uid. Objects that had lost their owner before the forecast are not collected. */
  readonly #removed = new Map<string, Planned>();
  #isDue = false;

  constructor(cluster: ForecastCluster) {
    this.#cluster = cluster;
  }

  observe({ kind, before, after }: Write): void {
    const { uid } = before?.metadata ?? {};
    if (before && uid !== undefined && uid !== after?.metadata.uid) this.#removed.set(uid, { kind, object: before });
    else if (after === undefined || !this.#isOrphan(after)) return;
    this.#isDue = true;
  }

  /** Deletes objects that have lost their last owner since the last call; returns whether there were any. */
  collect(): boolean {
    if (!this.#isDue) return false;
    this.#isDue = false;
    let isAny = false;
    for (const kind of this.#cluster.kinds) {
      for (const object of this.#cluster.facts.list<KubeObject>(kind)) {
        if (!this.#isOrphan(object)) continue;
        const owner = this.#removed.get(object.metadata.ownerReferences![0]!.uid)!;
        this.#cluster.delete(kind, object, { by: CLUSTER, for: owner });
        isAny = true;
      }
    }
    return isAny;
  }

  #isOrphan({ metadata: { ownerReferences: owners = [], deletionTimestamp } }: KubeObject): boolean {
    return deletionTimestamp === undefined && owners.length > 0 && owners.every(({ uid }) => this.#removed.has(uid));
  }
}
