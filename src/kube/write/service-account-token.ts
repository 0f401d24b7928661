// Tokens for service accounts, and the Secret with a kubeconfig that holds one. apply.ts calls it for `token` steps.
import { timestamp } from '../times.ts';
import { withAnnotations } from '../annotations.ts';
import { createHash } from 'node:crypto';
import type { Client, RequestOptions } from '../client/client.ts';
import { ApiError } from '../errors.ts';
import type { KubeObject, Ref } from '../objects.ts';
import type { Token } from './steps.ts';

/** On a Secret with a token: when the token was issued and when it expires. */
export const TOKEN_ISSUED = 'offshoot.dev/token-issued';
export const TOKEN_EXPIRES = 'offshoot.dev/token-expires';
/** On a Secret with a token: a digest of its data as issued. */
export const TOKEN_DIGEST = 'offshoot.dev/token-digest';

export interface IssuedToken {
  readonly token: string;
  readonly issued: string;
  readonly expires: string;
}

interface TokenRequest {
  readonly metadata?: { readonly creationTimestamp?: string | null };
  readonly status?: { readonly token?: string; readonly expirationTimestamp?: string };
}

/** Requests a token of a service account from the API server. */
export async function requestToken(
  client: Client,
  account: Ref,
  expirationSeconds: number,
  { signal, beforeSend }: RequestOptions = {},
): Promise<IssuedToken> {
  const answer = await client.raw<TokenRequest>({
    method: 'POST',
    path: `/api/v1/namespaces/${account.namespace}/serviceaccounts/${account.name}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds } },
    ...(signal && { signal }),
    ...(beforeSend && { beforeSend }),
  });
  const { token, expirationTimestamp } = answer.status ?? {};
  if (!token || !expirationTimestamp) {
    throw new ApiError('unable to create token, got empty string', { code: 500, reason: 'InternalError' });
  }
  const issued = answer.metadata?.creationTimestamp ?? timestamp(Date.now());
  return { token, issued, expires: expirationTimestamp };
}

/** The Secret of a `token` step, with its token. */
export async function credentialsSecret(step: Token, { token, issued, expires }: IssuedToken): Promise<KubeObject> {
  const { object } = step;
  const kubeconfig = Buffer.from(await kubeconfigOf(step, token)).toString('base64');
  const annotations = { [TOKEN_ISSUED]: issued, [TOKEN_EXPIRES]: expires, [TOKEN_DIGEST]: dataDigest(kubeconfig) };
  const secret: KubeObject & { data: Record<string, string> } = {
    ...withAnnotations(object, annotations),
    data: { kubeconfig },
  };
  return secret;
}

/** A digest of the data of a Secret, which shows whether anybody has changed them. */
export function dataDigest(base64: string): string {
  return createHash('sha256').update(base64).digest('hex').slice(0, 32);
}

async function kubeconfigOf({ serviceAccount, cluster }: Token, token: string): Promise<string> {
  // Loaded here to keep the start fast.
  const { stringify } = await import('../yaml.ts');
  const user = serviceAccount.name;
  const { server, caPem, insecureSkipTlsVerify } = cluster;
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'default-cluster',
        cluster: {
          server,
          ...(caPem && { 'certificate-authority-data': Buffer.from(caPem).toString('base64') }),
          ...(insecureSkipTlsVerify && { 'insecure-skip-tls-verify': true }),
        },
      },
    ],
    users: [{ name: user, user: { token } }],
    contexts: [
      { name: 'default-context', context: { cluster: 'default-cluster', user, namespace: serviceAccount.namespace } },
    ],
    'current-context': 'default-context',
  });
}
