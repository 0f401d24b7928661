// What our parts need of a cluster, as plain data. A build puts the values in place of this code (scripts/bundle.ts),
// so that a start computes nothing of it.
import type { StartingDefinitions } from '../../embedded/bootstrap.ts';
import { appMeshDefinitions, gatewayApiDefinitions, istioDefinitions } from '../../embedded/crd/index.ts';
import type { AnyObject } from '../../kube/objects.ts';
import { partsOf } from './parts.ts';

/** The definitions of our kinds. */
export const definitions: readonly AnyObject[] = partsOf().flatMap(({ resources }) => resources.map(({ crd }) => crd));

/** Those that a cluster of ours starts with: also what others bring, the mesh. */
export const clusterDefinitions: StartingDefinitions = {
  given: Object.values({ ...istioDefinitions(), ...gatewayApiDefinitions(), ...appMeshDefinitions() }) as AnyObject[],
  kept: definitions,
  manager: 'offshoot-install',
};

/** The leases of our parts. */
export const leaseNames: readonly string[] = partsOf().map(({ lease }) => lease);

/** The names under which our webhooks are registered. */
export const webhookNames: readonly string[] = partsOf().flatMap(({ webhook }) => webhook?.configurationName ?? []);
