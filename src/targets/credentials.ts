// Secrets with credentials: what is read of them, and when a token is due to be replaced.
import { reading, TOKEN_EXPIRES, TOKEN_ISSUED } from '../kube/index.ts';
import type { TableDeclaration } from '../kube/index.ts';
import { Secret } from './objects.ts';

/** Secrets that may hold credentials of targets: not those that others keep in great numbers for other ends. */
export const readingSecrets: TableDeclaration = reading(Secret, {
  fieldSelector: ['helm.sh/release.v1', 'kubernetes.io/service-account-token', 'kubernetes.io/dockercfg']
    .map((type) => `type!=${type}`)
    .join(','),
});

/** The part of its life after which a token is replaced. */
const FRESH = 2 / 3;

/**
 * Milliseconds until the token of a Secret is to be replaced: 0 when it is due or missing, Infinity when it is not one
 * of ours, and so not ours to replace.
 */
export function freshForMs(secret: Secret | undefined, now: number): number {
  if (secret?.data?.['kubeconfig'] === undefined) return 0;
  const issued = Date.parse(secret.metadata.annotations?.[TOKEN_ISSUED] ?? '');
  const expires = Date.parse(secret.metadata.annotations?.[TOKEN_EXPIRES] ?? '');
  if (Number.isNaN(issued) || Number.isNaN(expires)) return Infinity;
  return Math.max(0, issued + (expires - issued) * FRESH - now);
}
