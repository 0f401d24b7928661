// Which pods must be replaced, as a derived map: a pod is looked at again when it, its ReplicaSet or what it should be
// changes, and what is found concerns others only when it is something else.
import { Istio } from '../../api/istio.ts';
import { defineModel } from '../../controller/index.ts';
import type { Facts, Model } from '../../controller/index.ts';
import { keyOf, refOf } from '../../kube/index.ts';
import { derive } from '../../watchable/index.ts';
import type { DerivedMap } from '../../watchable/index.ts';
import { ISTIO_NAMESPACE, RESTART_UNINJECTED } from '../names.ts';
import { rulingIstio } from '../ruling.ts';
import type { Pod } from '../workloads.ts';
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

/** Sidecars and gateways are restarted for reasons of their own, and do not wait for each other. */
export type Lot = 'sidecars' | 'gateways';

export interface PodToReplace extends OutdatedPod {
  /** Absent for a pod that is only listed: it should have a sidecar, and nobody asked to restart it for that. */
  readonly lot?: Lot;
}

/** There is one mesh, so these maps have one key. */
const MESH = 'mesh';

/** Which resource rules, and what it asks to restart workloads for. */
export interface RulingGoal {
  readonly istio: string;
  readonly goal: RestartGoal;
}

const goals = defineModel((facts) =>
  derive('restart goal', (read, _mesh: string): RulingGoal | undefined => {
    const all = facts(read);
    const istio = rulingIstio(all.list(Istio));
    return istio && { istio: keyOf(istio.metadata), goal: restartGoal(all, istio) };
  }),
);

/** What workloads are to be restarted for; nothing where no resource rules. */
export function rulingGoal(facts: Facts): RulingGoal | undefined {
  return facts.read.get(facts.model(goals), MESH);
}

/** Why pods of one sort must be replaced. */
interface Judge {
  readonly lot: Lot;
  readonly predicate: RestartPredicate;
  /** Pods that it also looks at, only to tell of them. */
  readonly alsoTellsOf?: (pod: Pod) => boolean;
  /** A changed setting, as the predicate words it. */
  readonly setting?: string | undefined;
}

/** What follows from a goal: made once, and not for each pod. */
interface Judges {
  readonly sidecars: Judge;
  readonly gateways?: Judge;
  readonly controlPlane?: Judge;
  /** Whether pods without a sidecar should have one, where injection is on. */
  readonly injects: boolean;
}

const judges = defineModel((facts) =>
  derive(
    'restart predicates',
    (read, _mesh: string): Judges | undefined => {
      const ruling = rulingGoal(facts(read));
      return ruling && judgesOf(ruling.goal);
    },
    // Functions can't be compared: they are recreated only when the goal is another.
    { isolate: 'none', equals: () => false },
  ),
);

function judgesOf(goal: RestartGoal): Judges | undefined {
  if (goal.is === 'pending') return undefined;
  if (goal.is === 'no mesh') {
    return { sidecars: { lot: 'sidecars', predicate: where(isNotOver, sidecarOfNoMesh) }, injects: false };
  }
  const { sidecars, gateways } = goal;
  const { before, spec } = gateways;
  const policies = changedPolicies(before, spec);
  return {
    sidecars: {
      lot: 'sidecars',
      predicate: where((pod) => isCandidate(pod) || isUnhealthy(pod), outdatedSidecar(sidecars)),
      alsoTellsOf: isUnhealthy,
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

/** Which of them a pod is for. */
function judgeOf({ metadata }: Pod, { sidecars, gateways, controlPlane }: Judges): Judge | undefined {
  const { istio, app, 'k8s-app': agent } = metadata.labels ?? {};
  if (metadata.namespace !== ISTIO_NAMESPACE) return sidecars;
  if (istio === 'ingressgateway' || istio === 'egressgateway') return gateways;
  return app === 'istiod' || agent === 'istio-cni-node' ? controlPlane : sidecars;
}

/** Pods that must be replaced, for the resource that rules. */
export function outdatedPods(restartUninjected: boolean): Model<DerivedMap<string, PodToReplace>> {
  return defineModel((facts) =>
    derive(
      'outdated pods',
      (read, key: string): PodToReplace | undefined => {
        const all = facts(read);
        const known = read.get(all.model(judges), MESH);
        const pod = known && all.get(Pods, refOf(key));
        return (
          pod && (outdated(all, pod, known) ?? (known.injects ? uninjected(all, pod, restartUninjected) : undefined))
        );
      },
      { keys: (read) => facts(read).keys(Pods) },
    ),
  );
}

function outdated(facts: Facts, pod: Pod, known: Judges): PodToReplace | undefined {
  const judge = judgeOf(pod, known);
  const found = judge && outdatedPod(pod, judge.predicate, setsIn(facts));
  return (
    found && {
      ...found,
      lot: judge.lot,
      ...(found.why === judge.setting && { bySetting: true }),
      ...(judge.alsoTellsOf?.(pod) && { isUnhealthy: true }),
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

function isNotOver({ metadata, status }: Pod): boolean {
  const { phase } = status ?? {};
  return metadata.deletionTimestamp === undefined && phase !== 'Succeeded' && phase !== 'Failed';
}
