// Reviews by the API server: whom a token belongs to (TokenReview), and what a user may do (SubjectAccessReview).
import type { Client, RequestOptions } from './client/client.ts';

/** A user as the API server knows them. */
export interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The action to check; without a namespace, in all namespaces. */
export interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
}

interface AccessReview {
  readonly status?: { readonly allowed?: boolean };
}

interface TokenReview {
  readonly status?: { readonly authenticated?: boolean; readonly user?: UserInfo };
}

/** Whether a user has a permission: a SubjectAccessReview. */
export async function reviewAccess(
  client: Client,
  user: UserInfo,
  resourceAttributes: ResourceAttributes,
  options: RequestOptions = {},
): Promise<boolean> {
  const { username = '', uid, groups = [], extra = {} } = user;
  const { status } = await client.raw<AccessReview>({
    ...options,
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: username, ...(uid && { uid }), groups, extra, resourceAttributes },
    },
  });
  return status?.allowed === true;
}

/** The user of a token, by a TokenReview; undefined if the API server does not accept the token. */
export async function reviewToken(
  client: Client,
  token: string,
  options: RequestOptions = {},
): Promise<UserInfo | undefined> {
  const { status } = await client.raw<TokenReview>({
    ...options,
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
  });
  const { authenticated, user } = status ?? {};
  return authenticated === true && user?.username ? user : undefined;
}
