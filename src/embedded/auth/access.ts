// Authentication and authorization of requests: certificates, tokens, impersonation, then RBAC.
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { UserInfo } from '../rest/context.ts';
import { Fault, forbidden, unauthorized } from '../rest/fault.ts';
import type { RequestLine } from '../rest/request.ts';
import { selectedName } from '../rest/verbs/selectors.ts';
import type { Store } from '../store/store.ts';
import { impersonated } from './impersonation.ts';
import { Rbac } from './rbac.ts';
import type { Attributes } from './rbac.ts';
import type { TokenClaims, TokenKey } from './tokens.ts';
import { issuer } from './tokens.ts';

const publicPaths = new Set(['/healthz', '/readyz', '/livez', '/version']);
const admin: UserInfo = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };

export class Access {
  readonly rbac: Rbac;
  readonly #store: Store;
  readonly #adminToken: Buffer;
  readonly #tokens: TokenKey;
  readonly #certificateUsers = new WeakMap<TLSSocket, UserInfo>();

  constructor(store: Store, adminToken: string, tokens: TokenKey) {
    this.rbac = new Rbac(store);
    this.#store = store;
    this.#adminToken = Buffer.from(adminToken);
    this.#tokens = tokens;
  }

  get tokens(): TokenKey {
    return this.#tokens;
  }

  /** Paths that need no authentication: health and version. */
  isPublic(path: string): boolean {
    return publicPaths.has(path);
  }

  /** The user of a request; throws a Fault without valid credentials. */
  authenticate(request: IncomingMessage): UserInfo {
    const { authorization } = request.headers;
    const user =
      authorization === undefined
        ? this.#certificateUser(request.socket as TLSSocket)
        : this.#bearerUser(/^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '');
    if (user === undefined) throw unauthorized();
    return impersonated(this.rbac, user, request.headers);
  }

  /** Refuses tokens that were issued for another audience. */
  #bearerUser(token: string): UserInfo | undefined {
    const found = this.tokenUser(token);
    return found?.audiences.includes(issuer) === true ? found.user : undefined;
  }

  /** The user and the audiences of a bearer token; undefined when the token is invalid. */
  tokenUser(token: string): { readonly user: UserInfo; readonly audiences: readonly string[] } | undefined {
    const bytes = Buffer.from(token);
    if (bytes.length === this.#adminToken.length && timingSafeEqual(bytes, this.#adminToken)) {
      return { user: admin, audiences: [issuer] };
    }
    const claims = this.#tokens.read(token);
    if (claims === undefined || !this.#isStillValid(claims)) return undefined;
    const { namespace, name, uid, id, audiences } = claims;
    return {
      user: {
        username: `system:serviceaccount:${namespace}:${name}`,
        uid,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${id}`], ...podExtra(claims) },
      },
      audiences,
    };
  }

  /** Throws a Fault when the request is not allowed. */
  authorize(user: UserInfo, verb: string, line: RequestLine): void {
    const attributes = attributesOf(verb, line);
    if (this.rbac.allows(user, attributes)) return;
    if (attributes.path !== undefined) {
      const message = `forbidden: User "${user.username}" cannot ${verb} path "${attributes.path}"`;
      throw new Fault(403, 'Forbidden', message, {});
    }
    const { group, resource, name } = attributes;
    throw forbidden({ group, plural: resource, kind: '' }, name, forbiddenMessage(user, attributes));
  }

  #isStillValid({ namespace, name, uid, boundTo }: TokenClaims): boolean {
    if (this.#store.get('serviceaccounts', `${namespace}/${name}`)?.object.metadata.uid !== uid) return false;
    if (boundTo === undefined) return true;
    const [collection, key] =
      boundTo.kind === 'Node'
        ? ['nodes', boundTo.name]
        : [`${boundTo.kind.toLowerCase()}s`, `${namespace}/${boundTo.name}`];
    return this.#store.get(collection, key)?.object.metadata.uid === boundTo.uid;
  }

  #certificateUser(socket: TLSSocket): UserInfo | undefined {
    if (!socket.authorized) return undefined;
    let user = this.#certificateUsers.get(socket);
    if (user === undefined) {
      const { CN, O = [] } = socket.getPeerCertificate().subject ?? {};
      const username = [CN ?? []].flat()[0];
      if (username === undefined) return undefined;
      user = { username, groups: [...[O].flat(), 'system:authenticated'] };
      this.#certificateUsers.set(socket, user);
    }
    return user;
  }
}

function forbiddenMessage(user: UserInfo, attributes: Attributes): string {
  const resource =
    attributes.subresource === '' ? attributes.resource : `${attributes.resource}/${attributes.subresource}`;
  const scope = attributes.namespace === '' ? 'at the cluster scope' : `in the namespace "${attributes.namespace}"`;
  return `User "${user.username}" cannot ${attributes.verb} resource "${resource}" in API group "${attributes.group}" ${scope}`;
}

function attributesOf(verb: string, line: RequestLine): Attributes {
  if (line.resource === undefined) {
    return { verb, path: line.path, group: '', resource: '', subresource: '', namespace: '', name: '' };
  }
  const { group, plural, subresource, namespace, name } = line.resource;
  const selected = name === '' && verb !== 'create' ? (selectedName(line.query) ?? '') : name;
  return { verb, group, resource: plural, subresource, namespace, name: selected };
}

/** The extra fields of a token that is bound to a pod. */
function podExtra({ boundTo }: TokenClaims): Record<string, string[]> {
  if (boundTo?.kind !== 'Pod') return {};
  const prefix = 'authentication.kubernetes.io/pod';
  return { [`${prefix}-name`]: [boundTo.name], [`${prefix}-uid`]: [boundTo.uid] };
}
