// Questions to the API server about people: whose a token is, and what somebody may do.
import type { Client, RequestOptions } from './client/client.ts';

/** A user as the API server knows them. */
export interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What somebody would do; without a namespace, in all of them. */
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

/** Whether a user has a right: a SubjectAccessReview. */
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

/** Whose a token is that the API server itself would take, now: a TokenReview. Undefined where it would not. */
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
