// What all proofs share: the world without any environment, as derived maps. Created and deleted environments, and
// ready pods, do not change them.
import type { Facts } from '../../controller/index.ts';
import { defineTable, keyOf, refOf } from '../../kube/index.ts';
import type { TableKind } from '../../kube/index.ts';
import { worldOfFacts } from '../../traffic/index.ts';
import type { MeshService, MeshSettings, Workload } from '../../traffic/index.ts';
import { ruleHost } from '../../traffic/istio/hosts.ts';
import { DestinationRule } from '../../traffic/istio/objects.ts';
import { Deployment } from '../../traffic/services.ts';
import { templateLabels, workloadsFor } from '../../traffic/world-facts.ts';
import { derive } from '../../watchable/index.ts';
import type { Lookup, Read } from '../../watchable/index.ts';
import { MARKER_LABEL } from '../names.ts';
import { isForEnvironment } from '../tables.ts';

export interface WithoutEnvironments {
  /** By `LOOKUP HOST`, or by the key of a delegate: the keys of VirtualServices. */
  readonly keys: Lookup<string, readonly string[]>;
  /** By host: the base rules. */
  readonly rules: Lookup<string, readonly DestinationRule[]>;
  /** The workloads of a service, without clones. */
  readonly workloads: Lookup<MeshService, readonly Workload[]>;
}

/** The name of indexes without objects of environments: created and deleted environments cause no new lookups. */
const WITHOUT_ENVIRONMENTS = 'proofs, without environments';

const BaseDeployments = defineTable(Deployment, {
  indexes: {
    [WITHOUT_ENVIRONMENTS]: (each) =>
      each.spec?.template?.metadata?.labels?.[MARKER_LABEL] === undefined ? templateLabels(each) : [],
  },
});

const byDomain = new Map<string, TableKind<DestinationRule>>();

function rulesBy({ clusterDomain }: MeshSettings): TableKind<DestinationRule> {
  let table = byDomain.get(clusterDomain);
  if (table === undefined) {
    const indexes = {
      [`${WITHOUT_ENVIRONMENTS}, ${clusterDomain}`]: (rule: DestinationRule) =>
        isForEnvironment(rule) ? [] : [ruleHost(rule, clusterDomain)],
    };
    byDomain.set(clusterDomain, (table = defineTable(DestinationRule, { indexes })));
  }
  return table;
}

/** The ways to look up VirtualServices in a world. */
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
      facts(read).index(rulesBy(settings), `${WITHOUT_ENVIRONMENTS}, ${settings.clusterDomain}`, host),
    ),
    workloads: derive(
      'workloads of services without clones',
      (read, service: MeshService) =>
        workloadsFor(facts(read), service, [BaseDeployments, WITHOUT_ENVIRONMENTS]).map(assumedReady),
      { key: (service) => JSON.stringify(service) },
    ),
  };
}

/** A workload with ready pods: their current readiness does not matter for isolation. */
export function assumedReady(workload: Workload): Workload {
  return { ...workload, isReady: true };
}
