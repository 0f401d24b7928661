// The seed of the clusters that `up` runs. There is one only in a build, which puts it in place of this code
// (scripts/bundle.ts): without it, a new cluster makes its objects one by one.
import { startEmbedded } from '../../embedded/index.ts';
import { takeSeed } from '../../embedded/seed.ts';
import { clusterDefinitions } from '../run/definitions.ts';

export const seed: string | undefined = undefined;

/** Makes the seed, from a cluster that is started for it. */
export async function makeSeed(): Promise<string> {
  const cluster = await startEmbedded({ definitions: clusterDefinitions });
  await cluster.simulation!.idle();
  const taken = takeSeed(cluster.store);
  await cluster.stop();
  return taken;
}
