// What all proofs share: the world without any environment, as derived maps. What comes and goes with environments, and
// how many pods are ready, changes none of them.
import type { Facts } from '../../controller/index.ts';
import { keyOf, refOf } from '../../kube/index.ts';
import { worldOfFacts } from '../../traffic/index.ts';
import type { MeshService, MeshSettings, Workload } from '../../traffic/index.ts';
import type { DestinationRule } from '../../traffic/istio/objects.ts';
import { derive } from '../../watchable/index.ts';
import type { Lookup, Read } from '../../watchable/index.ts';
import { MARKER_LABEL } from '../names.ts';
import { isForEnvironment } from '../tables.ts';

export interface WithoutEnvironments {
  /** By `LOOK-UP HOST`, or the key of a delegate: the keys of VirtualServices. */
  readonly keys: Lookup<string, readonly string[]>;
  /** By host: the rules that people made. */
  readonly rules: Lookup<string, readonly DestinationRule[]>;
  /** Who answers for a service, without clones. */
  readonly workloads: Lookup<MeshService, readonly Workload[]>;
}

/** How a world finds VirtualServices. */
export type LookUp = 'virtualServices' | 'virtualServicesTo' | 'delegatingTo';

export function withoutEnvironments(facts: (read: Read) => Facts, settings: MeshSettings): WithoutEnvironments {
  const worldFor = (read: Read) => worldOfFacts(facts(read), settings);
  return {
    keys: derive('keys of VirtualServices for proofs', (read, key: string) => {
      const [how, value] = key.split(' ') as [LookUp, string];
      const world = worldFor(read);
      const found = how === 'delegatingTo' ? world.delegatingTo(refOf(value)) : world[how](value);
      return found.map(({ metadata }) => keyOf(metadata));
    }),
    rules: derive('rules of hosts without environments', (read, host: string) =>
      worldFor(read)
        .destinationRules(host)
        .filter((rule) => !isForEnvironment(rule)),
    ),
    workloads: derive(
      'workloads of services without clones',
      (read, service: MeshService) =>
        worldFor(read)
          .workloads(service)
          .filter(({ labels }) => labels[MARKER_LABEL] === undefined)
          .map(assumedReady),
      { key: (service) => JSON.stringify(service) },
    ),
  };
}

/** A workload whose pods are ready: whether they are at the moment says nothing about who else gets there. */
export function assumedReady(workload: Workload): Workload {
  return { ...workload, isReady: true };
}
