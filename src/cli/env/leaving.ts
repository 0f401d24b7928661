// What goes with an environment when it is deleted: what `offshoot env delete` waits for.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { ResourceStatus } from '../../api/dynamicenv.ts';
import { isRouteOf, ownerOf } from '../../environments/ownership.ts';
import { Deployment } from '../../environments/objects.ts';
import { DestinationRule, VirtualService } from '../../traffic/istio/objects.ts';
import { keyOf } from '../../kube/objects.ts';
import type { Ref } from '../../kube/objects.ts';
import { leaving, leavingObject } from '../objects/wait-gone.ts';
import type { Leaving } from '../objects/wait-gone.ts';

/** What goes when an environment is deleted, the environment itself last. */
export function leavingWith(env: DynamicEnv): readonly Leaving[] {
  const subsets = Object.values(env.status?.subsetsStatus ?? {});
  const consumers = Object.values(env.status?.consumersStatus ?? {});
  const owner = ownerOf(env, []);
  const isNamed = ({ name }: Ref): boolean => name !== '';
  const isThere = ({ status }: ResourceStatus): boolean => status === 'running';
  return [
    ...unique(subsets.flatMap(({ virtualServices = [] }) => virtualServices))
      .filter(isThere)
      .map((ref) =>
        leaving(VirtualService, ref, `Routes in VirtualService ${keyOf(ref)}`, (service) =>
          (service.spec?.http ?? []).every((route) => !isRouteOf(owner, service, route)),
        ),
      ),
    ...unique(subsets.flatMap(({ destinationRules = [] }) => destinationRules))
      .filter(isThere)
      .map((ref) => leaving(DestinationRule, ref, `DestinationRule ${keyOf(ref)}`)),
    ...unique([...subsets.map(({ deployment }) => deployment), ...consumers])
      .filter(isNamed)
      .map((ref) => leaving(Deployment, ref, `Deployment ${keyOf(ref)}`)),
    leavingObject(DynamicEnv, env, `Environment ${keyOf(env.metadata)}`),
  ];
}

function unique<R extends Ref>(refs: readonly R[]): R[] {
  return [...new Map(refs.map((ref) => [keyOf(ref), ref])).values()];
}
