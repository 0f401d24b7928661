// Secrets with credentials: what is read of them, what they were issued for, and when they are due to be issued again.
import { createHash } from 'node:crypto';
import { dataDigest, TOKEN_DIGEST, TOKEN_EXPIRES, TOKEN_ISSUED } from '../kube/index.ts';
import type { ClusterAddress, KubeObject } from '../kube/index.ts';
import { LAST_CLAIM } from './names.ts';
import type { Secret } from './objects.ts';

/** On a Secret with a token: the uid of the account that it is for. An account or namespace recreated has another. */
const TOKEN_ACCOUNT = 'offshoot.dev/token-account';
/** On a Secret with a token: a digest of how the cluster is reached. */
const TOKEN_CLUSTER = 'offshoot.dev/token-cluster';

/** The part of its lifetime after which a token is replaced. */
const FRESH = 2 / 3;

type Marks = Readonly<Record<string, string>>;

/** What the Secret with a token for an account says of what that is good for, so that it can be judged later. */
export function issuedFor(account: KubeObject, cluster: ClusterAddress): Marks {
  const lastClaim = account.metadata.annotations?.[LAST_CLAIM];
  return {
    [TOKEN_ACCOUNT]: account.metadata.uid ?? '',
    [TOKEN_CLUSTER]: addressDigest(cluster),
    ...(lastClaim !== undefined && { [LAST_CLAIM]: lastClaim }),
  };
}

/** Whether credentials of ours are for a cluster that is reached so. */
export function isIssuedFor({ metadata }: Secret, cluster: ClusterAddress): boolean {
  return metadata.annotations?.[TOKEN_CLUSTER] === addressDigest(cluster);
}

function addressDigest({ server, caPem = '', insecureSkipTlsVerify = false }: ClusterAddress): string {
  const address = JSON.stringify([server, caPem, insecureSkipTlsVerify]);
  return createHash('sha256').update(address).digest('hex').slice(0, 16);
}

/** Whether we issued the credentials in a Secret. Its annotations may be gone; that we wrote to it is still known. */
export function isIssuedByUs({ metadata }: Secret): boolean {
  return metadata.annotations?.[TOKEN_ISSUED] !== undefined || (metadata.managedFields ?? []).length > 0;
}

/**
 * Milliseconds until the credentials in a Secret of ours are to be issued again: 0 when that is due, or they are not
 * the ones that were issued, or not for this account and cluster.
 */
export function freshForMs({ metadata, data }: Secret, desired: Marks, now: number): number {
  const { annotations = {} } = metadata;
  const isAsIssued = annotations[TOKEN_DIGEST] === dataDigest(data?.['kubeconfig'] ?? '');
  const isForThis = Object.entries(desired).every(([mark, value]) => annotations[mark] === value);
  const issued = Date.parse(annotations[TOKEN_ISSUED] ?? '');
  const expires = Date.parse(annotations[TOKEN_EXPIRES] ?? '');
  if (!isAsIssued || !isForThis || Number.isNaN(issued) || Number.isNaN(expires)) return 0;
  return Math.max(0, issued + (expires - issued) * FRESH - now);
}

/** Whether whoever had a target last can no longer use its credentials, which the next one gets. */
export function isRotated(secret: Secret | undefined, lastClaim: string | undefined): boolean {
  if (lastClaim === undefined || (secret !== undefined && !isIssuedByUs(secret))) return true;
  return secret?.metadata.annotations?.[LAST_CLAIM] === lastClaim;
}
