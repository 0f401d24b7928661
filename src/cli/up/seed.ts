// The seed of the clusters of `up`. Only a build has one: scripts/bundle.ts replaces this module by it. Without a seed,
// a new cluster creates its objects one by one.
import { startEmbedded } from '../../embedded/index.ts';
import { takeSeed } from '../../embedded/seed.ts';
import { clusterDefinitions } from '../run/definitions.ts';

export const seed: string | undefined = undefined;

/** Makes the seed from a newly started cluster. */
export async function makeSeed(): Promise<string> {
  const cluster = await startEmbedded({ definitions: clusterDefinitions });
  await cluster.simulation!.idle();
  const taken = takeSeed(cluster.store);
  await cluster.stop();
  return taken;
}
