// What our parts need in a cluster, as plain data. scripts/bundle.ts replaces this module by its values, so that
// nothing is computed at start-up.
import type { StartingDefinitions } from '../../embedded/bootstrap.ts';
import { appMeshDefinitions, gatewayApiDefinitions, istioDefinitions } from '../../embedded/crd/index.ts';
import type { AnyObject } from '../../kube/objects.ts';
import { partsOf } from './parts.ts';

/** The definitions that an embedded cluster starts with, including those of meshes. */
export const clusterDefinitions = (): StartingDefinitions => ({
  given: Object.values({ ...istioDefinitions(), ...gatewayApiDefinitions(), ...appMeshDefinitions() }) as AnyObject[],
  kept: partsOf().flatMap(({ resources }) => resources.map(({ crd }) => crd)),
  manager: 'offshoot-install',
});

/** The leases of our parts. */
export const leaseNames: readonly string[] = partsOf().map(({ lease }) => lease);

/** The names of our webhook configurations. */
export const webhookNames: readonly string[] = partsOf().flatMap(({ webhook }) => webhook?.configurationName ?? []);

/** The match conditions of our webhooks: expressions that are known to be valid. */
export const webhookConditions: readonly string[] = partsOf().flatMap(({ webhook }) => {
  const configuration = webhook?.configuration({ url: 'https://localhost' }, undefined);
  return (configuration?.webhooks ?? []).flatMap(({ matchConditions = [] }) =>
    matchConditions.map(({ expression }) => expression),
  );
});
