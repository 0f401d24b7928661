// The version of the API server that commands talk to.
import type { Client } from '../../kube/client/client.ts';

/** A cluster that does not answer is not waited for longer than this. */
const PATIENCE_MS = 5_000;

/** Its version, such as `v1.36.0`. */
export async function kubernetesVersion(client: Client): Promise<string> {
  const answer = await client.raw<{ readonly gitVersion?: string }>({ path: '/version', timeoutMs: PATIENCE_MS });
  return answer.gitVersion ?? 'unknown';
}

/** Whether it is that of the embedded cluster. */
export function isEmbeddedVersion(version: string): boolean {
  return version.endsWith('+offshoot');
}
