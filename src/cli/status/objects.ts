// The kinds that the parts manage, and how to describe the state of their objects.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { Istio } from '../../api/istio.ts';
import { RoutingRule } from '../../api/routing.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import {
  isolationOf,
  isolationProblem,
  problemOf as environmentProblem,
  stateOf as environmentState,
} from '../../environments/index.ts';
import type { AnyKind, KubeObject } from '../../kube/objects.ts';
import { stateOf as meshState } from '../../mesh/index.ts';
import { problemsOf, stateOf as ruleState } from '../../routing/index.ts';
import { brokenOf, phaseOf, problemOf } from '../../targets/index.ts';

/** A kind that a part manages. */
export interface Subject {
  readonly part: string;
  readonly kind: AnyKind;
  readonly one: string;
  readonly many: string;
  stateOf(object: KubeObject): string;
  /** Why an object is unhealthy; undefined if it is healthy. */
  problemOf(object: KubeObject): string | undefined;
  /** The command that shows more about it. */
  advice(object: KubeObject): string;
}

interface TypedSubject<T extends KubeObject> extends Subject {
  stateOf(object: T): string;
  problemOf(object: T): string | undefined;
}

export const SUBJECTS: readonly Subject[] = [
  {
    part: 'environments',
    kind: DynamicEnv,
    one: 'environment',
    many: 'environments',
    stateOf: environmentState,
    problemOf(env) {
      const problem = environmentProblem(env);
      if (problem !== undefined) return problem;
      return isolationOf(env)?.status === 'False' ? isolationProblem(env) : undefined;
    },
    advice: (env) => `offshoot env describe ${named(env)}`,
  } satisfies TypedSubject<DynamicEnv>,
  {
    part: 'targets',
    kind: DeploymentTargetClaim,
    one: 'claim',
    many: 'claims',
    stateOf: phaseOf,
    problemOf: (claim) => problemOf(claim) ?? lostOf(claim, 'Lost', 'its target is gone') ?? brokenOf(claim),
    advice: (claim) => `offshoot claim describe ${named(claim)}`,
  } satisfies TypedSubject<DeploymentTargetClaim>,
  {
    part: 'targets',
    kind: DeploymentTarget,
    one: 'target',
    many: 'targets',
    stateOf: phaseOf,
    problemOf: (target) => problemOf(target) ?? lostOf(target, 'Failed', 'it could not be freed') ?? brokenOf(target),
    advice: (target) => `offshoot target describe ${named(target)}`,
  } satisfies TypedSubject<DeploymentTarget>,
  {
    part: 'routing',
    kind: RoutingRule,
    one: 'routing rule',
    many: 'routing rules',
    stateOf: ruleState,
    problemOf: (rule) =>
      ['Rejected', 'Failed', 'Degraded'].includes(ruleState(rule))
        ? problemsOf(rule).join('; ') || ruleState(rule)
        : undefined,
    advice: (rule) => `offshoot routing describe ${named(rule)}`,
  } satisfies TypedSubject<RoutingRule>,
  {
    part: 'mesh',
    kind: Istio,
    one: 'Istio resource',
    many: 'Istio resources',
    stateOf: meshState,
    problemOf: (istio) => {
      const state = meshState(istio);
      return state === 'Error' || state === 'Warning' ? istio.status?.description || state : undefined;
    },
    advice: () => 'offshoot mesh status',
  } satisfies TypedSubject<Istio>,
] as readonly Subject[];

function lostOf(object: DeploymentTarget | DeploymentTargetClaim, phase: string, why: string): string | undefined {
  return phaseOf(object) === phase ? why : undefined;
}

function named({ metadata }: KubeObject): string {
  return `${metadata.name} -n ${metadata.namespace}`;
}
