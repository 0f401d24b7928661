// The warm pool: keeps some free targets of a class in namespaces that have claims of it, so that the next claim is
// bound at once.
import { DeploymentTarget, DeploymentTargetClass } from '../../api/targets.ts';
import type { DeploymentTargetClaim } from '../../api/targets.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { make, remove, removeUnchanged } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { NAMESPACE_PROVISIONER, OF_TARGET, PROVISIONER } from '../names.ts';
import { Namespace } from '../objects.ts';
import { namespaceParameters } from '../provisioning/parameters.ts';
import { quotaLeft } from '../provisioning/quota.ts';
import { warmNames } from './names.ts';
import { namespaceFor } from './request.ts';
import { Claims } from '../world.ts';
import { isFree, provisionedNamespaceOf, WarmNamespaces } from './world.ts';
import type { ProvisionedNamespace } from './world.ts';

export function warmNamespaces(): ControllerDefinition {
  return defineController<DeploymentTargetClass>({
    name: 'namespace-pool',
    kind: DeploymentTargetClass,
    ownsStatus: false,
    plan: planWarm,
  });
}

/** Plans the warm targets of one class, in every namespace that has a claim of it. */
export function planWarm(view: View, ofClass: DeploymentTargetClass): Plan {
  const { deletionTimestamp, name } = ofClass.metadata;
  if (ofClass.spec.provisioner !== NAMESPACE_PROVISIONER || deletionTimestamp !== undefined) return {};
  const warm = namespaceParameters(ofClass).value?.warm ?? 0;
  const free = Map.groupBy(freeNamespaces(view, name), ({ targetRef }) => targetRef.namespace);
  // Without warm targets, claims do not matter: reading none saves a reconcile for each claim.
  const claims = warm === 0 ? [] : view.index(Claims, 'anyClass', name);
  const inUse = new Set(claims.map(({ metadata }) => metadata.namespace!));
  const steps = [...new Set([...inUse, ...free.keys()])].sort().flatMap((home) => {
    const isEnding = view.get(Namespace, { name: home })?.metadata.deletionTimestamp !== undefined;
    const size = inUse.has(home) && !isEnding ? Math.min(warm, quotaLeft(view, ofClass, home)) : 0;
    const kept = free.get(home) ?? [];
    if (kept.length <= size) return makeWarm(view, ofClass, home, size - kept.length);
    // New claims count for the quota, and are about to get the free targets.
    const fresh = claims.filter((claim) => claim.metadata.namespace === home && isNew(claim)).length;
    return kept.slice(Math.max(size, fresh)).map(removeWarm);
  });
  return { steps };
}

/** Free namespaces of a class, finished ones first: the last ones are the first to be deleted. */
function freeNamespaces(view: View, className: string): ProvisionedNamespace[] {
  const namespaces = view
    .index(WarmNamespaces, 'warm', className)
    .flatMap((namespace) => provisionedNamespaceOf(view, namespace) ?? []);
  const rank = ({ target, namespace }: ProvisionedNamespace): string =>
    `${target === undefined ? 1 : 0} ${namespace.metadata.creationTimestamp ?? ''} ${namespace.metadata.name}`;
  return namespaces.filter(isFree).sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

/** Whether the binder has not decided yet about a claim. */
function isNew({ metadata, status }: DeploymentTargetClaim): boolean {
  const { deletionTimestamp, annotations } = metadata;
  return deletionTimestamp === undefined && status?.phase === undefined && annotations?.[PROVISIONER] === undefined;
}

function removeWarm({ target, namespace }: ProvisionedNamespace): Step {
  return target === undefined ? remove(Namespace, namespace) : removeUnchanged(DeploymentTarget, target);
}

/** Makes `count` namespaces, with the first free names. */
function makeWarm(view: View, ofClass: DeploymentTargetClass, home: string, count: number): Step[] {
  const steps: Step[] = [];
  for (let slot = 0; steps.length < count; slot++) {
    const { target, namespace } = warmNames(home, ofClass.metadata.name, slot);
    const isTaken =
      view.get(Namespace, { name: namespace }) !== undefined ||
      view.get(DeploymentTarget, { name: target, namespace: home }) !== undefined;
    if (!isTaken) steps.push(make(Namespace, namespaceFor(ofClass, namespace, { [OF_TARGET]: `${home}/${target}` })));
  }
  return steps;
}
