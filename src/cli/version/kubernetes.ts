// The version of the API server.
import type { Client } from '../../kube/client/client.ts';

/** The timeout for a cluster that does not answer. */
const TIMEOUT_MS = 5_000;

/** The version of the API server, such as `v1.36.0`. */
export async function kubernetesVersion(client: Client): Promise<string> {
  const answer = await client.raw<{ readonly gitVersion?: string }>({ path: '/version', timeoutMs: TIMEOUT_MS });
  return answer.gitVersion ?? 'unknown';
}

/** Whether it is the version of an embedded cluster. */
export function isEmbeddedVersion(version: string): boolean {
  return version.endsWith('+offshoot');
}
