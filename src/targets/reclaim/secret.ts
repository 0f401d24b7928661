// Whether the Secret of a target gives access: it exists, and what we issued has not expired. A target may be bound
// before that, but cannot be used. Used by the binder and the reclaimer.
import type { DeploymentTarget } from '../../api/targets.ts';
import type { View } from '../../controller/index.ts';
import { TOKEN_EXPIRES } from '../../kube/index.ts';
import type { Problem } from '../provisioning/eligible.ts';
import type { SecretReason } from '../reasons.ts';
import { Secret } from '../objects.ts';
import type { BackingProblem } from './backing.ts';

/** Why nobody can use the credentials of a target. */
export interface SecretProblem {
  readonly reason: SecretReason;
  readonly message: string;
}

/** The problem with the Secret of a target; undefined if it gives access, as far as can be known, or none is named. */
export function secretProblem(view: View, target: DeploymentTarget): SecretProblem | undefined {
  const { clusterCredentialsSecret: name } = target.spec.kubernetesCredentials;
  if (name === '') return undefined;
  const secret = secretOf(view, target);
  if (secret === undefined) {
    return { reason: 'SecretNotFound', message: `the Secret ${name} with the credentials does not exist` };
  }
  if (expiresInMs(view, secret) > 0) return undefined;
  const expired = secret.metadata.annotations?.[TOKEN_EXPIRES];
  return {
    reason: 'CredentialsExpired',
    message: `the credentials in Secret ${name} expired at ${expired}, and could not be issued again`,
  };
}

/** The problem of a target that has a claim: what was refused in its place matters less than that there is no access. */
export function mainProblem(
  backing: BackingProblem | undefined,
  noAccess: SecretProblem | undefined,
): Problem | undefined {
  if (backing === undefined || noAccess === undefined) return backing ?? noAccess;
  const isExpired = noAccess.reason === 'CredentialsExpired' && backing.reason === 'SpaceFailed' && !backing.isGone;
  if (backing.reason !== 'NamespaceFailed' && !isExpired) return backing;
  return { ...noAccess, message: `${noAccess.message}; ${backing.message}` };
}

/** Milliseconds until the Secret of a target becomes a problem by itself; Infinity if it does not. */
export function credentialsLastMs(view: View, target: DeploymentTarget): number {
  const secret = secretOf(view, target);
  const leftMs = secret === undefined ? Infinity : expiresInMs(view, secret);
  return leftMs > 0 ? leftMs : Infinity;
}

function secretOf(view: View, { metadata, spec }: DeploymentTarget): Secret | undefined {
  const { clusterCredentialsSecret: name } = spec.kubernetesCredentials;
  return name === '' ? undefined : view.get(Secret, { name, namespace: metadata.namespace });
}

/** When credentials of others expire is unknown. */
function expiresInMs(view: View, { metadata }: Secret): number {
  const expires = Date.parse(metadata.annotations?.[TOKEN_EXPIRES] ?? '');
  return Number.isNaN(expires) ? Infinity : view.untilExpiry(expires);
}
