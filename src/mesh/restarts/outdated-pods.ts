// Outdated pods as a derived map: a pod is checked again when it, its ReplicaSet or the goal changes, and readers are
// woken only if the result differs.
import { Istio } from '../../api/istio.ts';
import { defineModel } from '../../controller/index.ts';
import type { Facts, Model } from '../../controller/index.ts';
import { keyOf, refOf } from '../../kube/index.ts';
import { derive } from '../../watchable/index.ts';
import type { DerivedMap } from '../../watchable/index.ts';
import { ISTIO_NAMESPACE, RESTART_UNINJECTED } from '../names.ts';
import { activeIstio } from '../custom-resource/active-istio.ts';
import type { Pod } from '../workloads/workloads.ts';
import {
  changedGatewaySetting,
  changedPolicies,
  changedSidecarSetting,
  gatewayPredicate,
  outdatedSidecar,
} from './desired-state.ts';
import { restartGoal } from './installed.ts';
import type { RestartGoal } from './installed.ts';
import { outdatedPod } from './outdated.ts';
import type { FindReplicaSet, OutdatedPod } from './outdated.ts';
import { always, where } from './predicate.ts';
import type { RestartPredicate } from './predicate.ts';
import { isCandidate, isUnhealthy, sidecarOfNoMesh, withoutSidecar } from './sidecars.ts';
import { Namespaces, Pods, ReplicaSets } from './tables.ts';

/** Sidecars and gateways are restarted for different reasons, and do not wait for each other. */
export type Lot = 'sidecars' | 'gateways';

export interface PodToReplace extends OutdatedPod {
  /** Absent for a pod that is only listed: it should have a sidecar, but restarts for that are not enabled. */
  readonly lot?: Lot;
}

/** There is one mesh, so these maps have one key. */
const MESH = 'mesh';

/** The active resource and its goal of restarts. */
export interface ActiveGoal {
  readonly istio: string;
  readonly goal: RestartGoal;
}

const goals = defineModel((facts) =>
  derive('restart goal', (read, _mesh: string): ActiveGoal | undefined => {
    const all = facts(read);
    const istio = activeIstio(all.list(Istio));
    return istio && { istio: keyOf(istio.metadata), goal: restartGoal(all, istio) };
  }),
);

/** The goal of restarts; undefined if no resource rules. */
export function activeGoal(facts: Facts): ActiveGoal | undefined {
  return facts.read.get(facts.model(goals), MESH);
}

/** The check of one group of pods. */
interface RestartCheck {
  readonly lot: Lot;
  readonly predicate: RestartPredicate;
  /** Pods that are reported, but not restarted. */
  readonly isOnlyReported?: (pod: Pod) => boolean;
  /** The text of the predicate for a changed setting. */
  readonly setting?: string | undefined;
}

/** The checks for a goal, computed once and not for each pod. */
interface RestartChecks {
  readonly sidecars: RestartCheck;
  readonly gateways?: RestartCheck;
  readonly controlPlane?: RestartCheck;
  /** Whether pods without a sidecar should have one if injection is enabled. */
  readonly injects: boolean;
}

const checks = defineModel((facts) =>
  derive(
    'restart predicates',
    (read, _mesh: string): RestartChecks | undefined => {
      const active = activeGoal(facts(read));
      return active && checksFor(active.goal);
    },
    // Functions can't be compared: they are recreated only when the goal changes.
    { isolate: 'none', equals: () => false },
  ),
);

function checksFor(goal: RestartGoal): RestartChecks | undefined {
  if (goal.is === 'pending') return undefined;
  if (goal.is === 'no mesh') {
    return { sidecars: { lot: 'sidecars', predicate: where(isNotFinished, sidecarOfNoMesh) }, injects: false };
  }
  const { sidecars, gateways } = goal;
  const { before, spec } = gateways;
  const policies = changedPolicies(before, spec);
  return {
    sidecars: {
      lot: 'sidecars',
      predicate: where((pod) => isCandidate(pod) || isUnhealthy(pod), outdatedSidecar(sidecars)),
      isOnlyReported: isUnhealthy,
      setting: changedSidecarSetting(before, spec),
    },
    gateways: {
      lot: 'gateways',
      predicate: where(isRunning, gatewayPredicate(gateways)),
      setting: changedGatewaySetting(before, spec),
    },
    controlPlane: { lot: 'gateways', predicate: where(isRunning, always(policies)), setting: policies },
    injects: true,
  };
}

/** The check for a pod. */
function checkFor({ metadata }: Pod, { sidecars, gateways, controlPlane }: RestartChecks): RestartCheck | undefined {
  const { istio, app, 'k8s-app': agent } = metadata.labels ?? {};
  if (metadata.namespace !== ISTIO_NAMESPACE) return sidecars;
  if (istio === 'ingressgateway' || istio === 'egressgateway') return gateways;
  return app === 'istiod' || agent === 'istio-cni-node' ? controlPlane : sidecars;
}

/** Pods that must be replaced for the active resource. */
export function outdatedPods(restartUninjected: boolean): Model<DerivedMap<string, PodToReplace>> {
  return defineModel((facts) =>
    derive(
      'outdated pods',
      (read, key: string): PodToReplace | undefined => {
        const all = facts(read);
        const known = read.get(all.model(checks), MESH);
        const pod = known && all.get(Pods, refOf(key));
        return (
          pod && (outdated(all, pod, known) ?? (known.injects ? uninjected(all, pod, restartUninjected) : undefined))
        );
      },
      { keys: (read) => facts(read).keys(Pods) },
    ),
  );
}

function outdated(facts: Facts, pod: Pod, known: RestartChecks): PodToReplace | undefined {
  const check = checkFor(pod, known);
  const found = check && outdatedPod(pod, check.predicate, setsIn(facts));
  return (
    found && {
      ...found,
      lot: check.lot,
      ...(found.why === check.setting && { bySetting: true }),
      ...(check.isOnlyReported?.(pod) && { isUnhealthy: true }),
    }
  );
}

function uninjected(facts: Facts, pod: Pod, restart: boolean): PodToReplace | undefined {
  const { labels, annotations } = facts.get(Namespaces, { name: pod.metadata.namespace ?? '' })?.metadata ?? {
    name: '',
  };
  const found = outdatedPod(
    pod,
    where(
      isRunning,
      withoutSidecar(() => labels ?? {}),
    ),
    setsIn(facts),
  );
  const asked = restart || annotations?.[RESTART_UNINJECTED] === 'true';
  return found && { ...found, ...(asked && { lot: 'sidecars' }) };
}

function setsIn(facts: Facts): FindReplicaSet {
  return (namespace, name) => facts.get(ReplicaSets, { namespace, name });
}

function isRunning({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase === 'Running';
}

function isNotFinished({ metadata, status }: Pod): boolean {
  const { phase } = status ?? {};
  return metadata.deletionTimestamp === undefined && phase !== 'Succeeded' && phase !== 'Failed';
}
