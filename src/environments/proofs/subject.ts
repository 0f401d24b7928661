// The input of a proof about one environment: its own objects, and what can lead requests to it. It leaves out what
// changes all the time, such as the number of ready pods, so that a proof is computed again only when its result may
// differ.
import type { DynamicEnv, Subset } from '../../api/dynamicenv.ts';
import type { Facts } from '../../controller/index.ts';
import { defineTable } from '../../kube/index.ts';
import type { Ref } from '../../kube/index.ts';
import type { ProvenEnvironment, Workload } from '../../traffic/index.ts';
import { fullHost } from '../../traffic/istio/hosts.ts';
import type { RouteOwner } from '../../traffic/istio/inserted-routes.ts';
import { ServiceEntry } from '../../traffic/istio/objects.ts';
import type { DestinationRule } from '../../traffic/istio/objects.ts';
import { meshServicesOf, selects, workloadOf } from '../../traffic/services.ts';
import { identify } from '../identity/identity.ts';
import { isScaledDown } from '../lifecycle/sleep.ts';
import { findEdited, findMade, findServices } from '../lookup/lookup.ts';
import { matchesOf } from '../requests/matches.ts';
import { cloneName, itemsOf, uniqueVersion } from '../names.ts';
import { Deployment } from '../objects.ts';
import type { Settings } from '../settings.ts';
import { assumedReady } from './shared.ts';

/** The environment that a proof is about. */
export interface Subject {
  readonly environment: Ref;
  readonly owner: RouteOwner;
  readonly proven: ProvenEnvironment;
  readonly rules: readonly DestinationRule[];
  readonly clones: readonly Workload[];
}

/** ServiceEntries that select pods, by namespace. */
const SelectingEntries = defineTable(ServiceEntry, {
  optional: true,
  indexes: {
    selecting: ({ metadata, spec }) => (spec?.workloadSelector === undefined ? [] : [metadata.namespace ?? '']),
  },
});

/** Looks up the subject of a proof. */
export function subjectOf(facts: Facts, env: DynamicEnv, settings: Settings): Subject {
  const { owner } = identify(facts, env, settings);
  const made = findMade(facts, env, owner);
  return {
    environment: refIn(env.metadata),
    owner,
    proven: {
      version: uniqueVersion(env.metadata),
      matches: matchesOf(env.spec, settings),
      hosts: [...new Set(made.clones.flatMap((clone) => hostsOf(facts, clone, settings)))],
      workloads: itemsOf(env).subsets.map((subset) => ({
        hosts: baseHosts(facts, env, subset, settings),
        defaultVersion: subset.defaultVersion || settings.defaultVersion,
      })),
      virtualServices: findEdited(facts, env, settings).map(({ metadata }) => refIn(metadata)),
    },
    rules: made.rules,
    // A clone that is asleep has no pods.
    clones: made.clones
      .filter((clone) => !isScaledDown(clone) || clone.spec.replicas !== 0)
      .map((clone) => assumedReady(workloadOf(clone))),
  };
}

function refIn({ name, namespace }: Ref): Ref {
  return { name, ...(namespace !== undefined && { namespace }) };
}

/** The hosts of a base workload or, if it is gone, of its clone. */
function baseHosts(facts: Facts, env: DynamicEnv, subset: Subset, settings: Settings): readonly string[] {
  const clone = { name: cloneName(env.metadata, subset), namespace: subset.namespace };
  const known = facts.get(Deployment, subset) ?? facts.get(Deployment, clone);
  return known === undefined ? [] : hostsOf(facts, known, settings);
}

/** The hosts of the pods of a Deployment: those of Services and ServiceEntries that select them. */
function hostsOf(facts: Facts, deployment: Deployment, { clusterDomain }: Settings): readonly string[] {
  const { namespace = '' } = deployment.metadata;
  const services = findServices(facts, deployment).map(({ metadata }) =>
    fullHost(metadata.name, namespace, clusterDomain).toLowerCase(),
  );
  const entries = facts
    .index(SelectingEntries, 'selecting', namespace)
    .flatMap(meshServicesOf)
    .filter((each) => selects(each, workloadOf(deployment)));
  return [...services, ...entries.map(({ host }) => host)];
}
