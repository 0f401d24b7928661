// What is deleted with an environment. `offshoot env delete` waits for it.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { ResourceStatus } from '../../api/dynamicenv.ts';
import { ownerOf } from '../identity/ownership.ts';
import { isRouteOf } from '../../traffic/istio/inserted-routes.ts';
import { Deployment } from '../objects.ts';
import { DestinationRule, VirtualService } from '../../traffic/istio/objects.ts';
import { keyOf } from '../../kube/objects.ts';
import type { Ref } from '../../kube/objects.ts';
import { removal, removalOf } from '../../api/description/deletion.ts';
import type { Removal } from '../../api/description/deletion.ts';

/** What is deleted with an environment, the environment itself last. */
export function deletedWith(env: DynamicEnv): readonly Removal[] {
  const subsets = Object.values(env.status?.subsetsStatus ?? {});
  const consumers = Object.values(env.status?.consumersStatus ?? {});
  const owner = ownerOf(env, []);
  const isNamed = ({ name }: Ref): boolean => name !== '';
  const isThere = ({ status }: ResourceStatus): boolean => status === 'running';
  return [
    ...unique(subsets.flatMap(({ virtualServices = [] }) => virtualServices))
      .filter(isThere)
      .map((ref) =>
        removal(VirtualService, ref, `Routes in VirtualService ${keyOf(ref)}`, (service) =>
          (service.spec?.http ?? []).every((route) => !isRouteOf(owner, service, route)),
        ),
      ),
    ...unique(subsets.flatMap(({ destinationRules = [] }) => destinationRules))
      .filter(isThere)
      .map((ref) => removal(DestinationRule, ref, `DestinationRule ${keyOf(ref)}`)),
    ...unique([...subsets.map(({ deployment }) => deployment), ...consumers])
      .filter(isNamed)
      .map((ref) => removal(Deployment, ref, `Deployment ${keyOf(ref)}`)),
    removalOf(DynamicEnv, env, `Environment ${keyOf(env.metadata)}`),
  ];
}

function unique<R extends Ref>(refs: readonly R[]): R[] {
  return [...new Map(refs.map((ref) => [keyOf(ref), ref])).values()];
}
