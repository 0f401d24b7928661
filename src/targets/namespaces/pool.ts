// Places in reserve: where claims of a class come from, some of its targets are kept free, so that a claim is bound at
// once.
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { make, remove, removeUnchanged } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { NAMESPACE_PROVISIONER, OF_TARGET } from '../names.ts';
import { Namespace } from '../objects.ts';
import { namespaceParameters } from '../provisioning/parameters.ts';
import { placesLeft } from '../provisioning/quota.ts';
import { spareNames } from './names.ts';
import { namespaceFor } from './request.ts';
import { isFree, namespaceTables, placeOf } from './world.ts';
import type { Place } from './world.ts';

export function namespacePool(): ControllerDefinition {
  return defineController<DeploymentTargetClass>({
    name: 'namespace-pool',
    kind: DeploymentTargetClass,
    ownsStatus: false,
    reads: namespaceTables,
    plan: planPool,
  });
}

/** Plans the reserve of one class, in every namespace that has a claim of it. */
export function planPool(view: View, ofClass: DeploymentTargetClass): Plan {
  const { deletionTimestamp, name } = ofClass.metadata;
  if (ofClass.spec.provisioner !== NAMESPACE_PROVISIONER || deletionTimestamp !== undefined) return {};
  const warm = namespaceParameters(ofClass).value?.warm ?? 0;
  const free = Map.groupBy(freePlaces(view, name), ({ targetRef }) => targetRef.namespace);
  // Without a reserve it does not matter who claims, and not every claim need wake this.
  const claims = warm === 0 ? [] : view.index(DeploymentTargetClaim, 'anyClass', name);
  const inUse = new Set(claims.map(({ metadata }) => metadata.namespace!));
  const steps = [...new Set([...inUse, ...free.keys()])].sort().flatMap((home) => {
    const isEnding = view.get(Namespace, { name: home })?.metadata.deletionTimestamp !== undefined;
    const wanted = inUse.has(home) && !isEnding ? Math.min(warm, placesLeft(view, ofClass, home)) : 0;
    const spare = free.get(home) ?? [];
    if (spare.length > wanted) return spare.slice(wanted).map(giveUp);
    return reserve(view, ofClass, home, wanted - spare.length);
  });
  return { steps };
}

/** Free places of a class, those that are furthest first: the others are the first to go. */
function freePlaces(view: View, className: string): Place[] {
  const places = view.index(Namespace, 'spare', className).flatMap((namespace) => placeOf(view, namespace) ?? []);
  const rank = ({ target, namespace }: Place): string =>
    `${target === undefined ? 1 : 0} ${namespace.metadata.creationTimestamp ?? ''} ${namespace.metadata.name}`;
  return places.filter(isFree).sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

function giveUp({ target, namespace }: Place): Step {
  return target === undefined ? remove(Namespace, namespace) : removeUnchanged(DeploymentTarget, target);
}

/** So many namespaces with the first names that are not taken. */
function reserve(view: View, ofClass: DeploymentTargetClass, home: string, count: number): Step[] {
  const steps: Step[] = [];
  for (let slot = 0; steps.length < count; slot++) {
    const { target, namespace } = spareNames(home, ofClass.metadata.name, slot);
    const isTaken =
      view.get(Namespace, { name: namespace }) !== undefined ||
      view.get(DeploymentTarget, { name: target, namespace: home }) !== undefined;
    if (!isTaken) steps.push(make(Namespace, namespaceFor(ofClass, namespace, { [OF_TARGET]: `${home}/${target}` })));
  }
  return steps;
}
