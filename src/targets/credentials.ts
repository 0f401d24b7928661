// Secrets with credentials: what they were issued for, and when they must be issued again.
import { createHash } from 'node:crypto';
import { dataDigest, TOKEN_DIGEST, TOKEN_EXPIRES, TOKEN_ISSUED } from '../kube/index.ts';
import type { ClusterAddress, KubeObject } from '../kube/index.ts';
import { LAST_CLAIM } from './names.ts';
import type { Secret } from './objects.ts';

/** On a Secret with a token: the uid of its service account. A recreated account or namespace has another. */
const TOKEN_ACCOUNT = 'offshoot.dev/token-account';
/** On a Secret with a token: a digest of the address of the cluster. */
const TOKEN_CLUSTER = 'offshoot.dev/token-cluster';

/** The fraction of its lifetime after which a token is replaced. */
const RENEW_AFTER = 2 / 3;

type Annotations = Readonly<Record<string, string>>;

/** The annotations that say what a token was issued for, so that it can be checked later. */
export function issuedFor(account: KubeObject, cluster: ClusterAddress): Annotations {
  const lastClaim = account.metadata.annotations?.[LAST_CLAIM];
  return {
    [TOKEN_ACCOUNT]: account.metadata.uid ?? '',
    [TOKEN_CLUSTER]: addressDigest(cluster),
    ...(lastClaim !== undefined && { [LAST_CLAIM]: lastClaim }),
  };
}

/** Whether credentials that we issued are for this address of the cluster. */
export function isIssuedFor({ metadata }: Secret, cluster: ClusterAddress): boolean {
  return metadata.annotations?.[TOKEN_CLUSTER] === addressDigest(cluster);
}

function addressDigest({ server, caPem = '', insecureSkipTlsVerify = false }: ClusterAddress): string {
  const address = JSON.stringify([server, caPem, insecureSkipTlsVerify]);
  return createHash('sha256').update(address).digest('hex').slice(0, 16);
}

/** Whether we issued the credentials in a Secret. If its annotations are gone, managedFields still show our writes. */
export function isIssuedByUs({ metadata }: Secret): boolean {
  return metadata.annotations?.[TOKEN_ISSUED] !== undefined || (metadata.managedFields ?? []).length > 0;
}

/**
 * Milliseconds until the credentials in a Secret of ours must be issued again: 0 when that is due, or when they were
 * changed since, or are not for this account and cluster.
 */
export function freshForMs({ metadata, data }: Secret, desired: Annotations, now: number): number {
  const { annotations = {} } = metadata;
  const isAsIssued = annotations[TOKEN_DIGEST] === dataDigest(data?.['kubeconfig'] ?? '');
  const isForThis = Object.entries(desired).every(([annotation, value]) => annotations[annotation] === value);
  const issued = Date.parse(annotations[TOKEN_ISSUED] ?? '');
  const expires = Date.parse(annotations[TOKEN_EXPIRES] ?? '');
  if (!isAsIssued || !isForThis || Number.isNaN(issued) || Number.isNaN(expires)) return 0;
  return Math.max(0, issued + (expires - issued) * RENEW_AFTER - now);
}

/** Whether the credentials of a target were renewed after its last claim, so that its users have no access any more. */
export function isRotated(secret: Secret | undefined, lastClaim: string | undefined): boolean {
  if (lastClaim === undefined || (secret !== undefined && !isIssuedByUs(secret))) return true;
  return secret?.metadata.annotations?.[LAST_CLAIM] === lastClaim;
}
