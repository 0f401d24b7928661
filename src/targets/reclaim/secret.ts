// Whether the Secret with the credentials of a target exists. A target may be bound before it does, but cannot be used.
// Used by the binder and the reclaimer.
import type { DeploymentTarget } from '../../api/targets.ts';
import type { View } from '../../controller/index.ts';
import { Secret } from '../objects.ts';

/** Why a target without its Secret can't be used; undefined if it has one, or names none yet. */
export function secretProblem(
  view: View,
  { metadata, spec }: DeploymentTarget,
): { readonly reason: 'SecretNotFound'; readonly message: string } | undefined {
  const { clusterCredentialsSecret: name } = spec.kubernetesCredentials;
  if (name === '' || view.get(Secret, { name, namespace: metadata.namespace }) !== undefined) return undefined;
  return { reason: 'SecretNotFound', message: `the Secret ${name} with the credentials does not exist` };
}
