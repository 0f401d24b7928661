// Deletes managed environments whose environment is gone, even if the garbage collector can't follow their owner
// reference.
import { ManagedEnvironment } from '../../api/spaces.ts';
import { Environment } from '../../api/targets.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { remove } from '../../kube/index.ts';
import { managedName, OWNER_VERSIONS } from './environment.ts';

export function managedEnvironments(): ControllerDefinition {
  return defineController<ManagedEnvironment>({
    name: 'managed-environments',
    kind: ManagedEnvironment,
    ownsStatus: false,
    plan: planManagedEnvironment,
  });
}

/** Plans one managed environment. */
export function planManagedEnvironment(view: View, managed: ManagedEnvironment): Plan {
  const { name, namespace, ownerReferences = [] } = managed.metadata;
  const owner = ownerReferences.find(
    (each) =>
      each.kind === 'Environment' && OWNER_VERSIONS.includes(each.apiVersion) && managedName(each.name) === name,
  );
  if (owner === undefined || view.get(Environment, { name: owner.name, namespace: namespace! }) !== undefined)
    return {};
  return { steps: [remove(ManagedEnvironment, managed)] };
}
