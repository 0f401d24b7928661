// Names of the objects of an environment, all of them contract. identity/ownership.ts says which objects belong to it.
import type { DynamicEnv, Subset } from '../api/dynamicenv.ts';
import type { Ref } from '../kube/objects.ts';

export const CONTROLLER = 'environments';
/** The field manager of everything that is written for environments. */
export const FIELD_MANAGER = `offshoot-${CONTROLLER}`;
export const MARKER_LABEL = 'dynamic-env';
export const FINALIZERS = ['DeleteDeployments', 'DeleteDestinationRules', 'CleanupVirtualServices'] as const;

/** The version of an environment: the value of the version label, and the name of the Istio subset. */
export function uniqueVersion(env: Ref): string {
  return `${(env.namespace ?? '').slice(0, 20)}-${env.name.slice(0, 40)}`;
}

/** The name of a clone. */
export function cloneName(env: Ref, subset: Ref): string {
  return `${subset.name}-${uniqueVersion(env)}`;
}

/** The clones that an environment asks for, by namespace and name. */
export function clonesOf(env: Pick<DynamicEnv, 'metadata' | 'spec'>): readonly string[] {
  const { subsets, consumers } = itemsOf(env);
  return [...subsets, ...consumers].map((each) => `${each.namespace}/${cloneName(env.metadata, each)}`);
}

/** The name of the DestinationRule for one service of a subset. */
export function ruleName(env: Ref, subset: Ref, service: string): string {
  return `${cloneName(env, subset)}-${service}`;
}

/** The key of a subset or consumer in the status. */
export function statusKey(subset: Subset): string {
  return `${subset.namespace}/${subset.name}`;
}

/** The subsets and consumers of an environment. The server does not require a spec. */
export function itemsOf(env: { readonly spec?: DynamicEnv['spec'] }): {
  readonly subsets: readonly Subset[];
  readonly consumers: readonly Subset[];
} {
  return { subsets: env.spec?.subsets ?? [], consumers: env.spec?.consumers ?? [] };
}
