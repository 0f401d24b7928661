// Service account tokens: JSON Web Tokens (ES256), signed with the key of the cluster. Issued by the token subresource,
// verified on every request with a bearer token.
import { createPrivateKey, createPublicKey, randomUUID, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

export interface TokenClaims {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly audiences: readonly string[];
  /** Seconds since 1970. */
  readonly expires: number;
  readonly id: string;
  /** The token becomes invalid when this object is deleted. */
  readonly boundTo?: { readonly kind: string; readonly name: string; readonly uid: string };
}

export const issuer = 'https://kubernetes.default.svc.cluster.local';

export class TokenKey {
  readonly #private: KeyObject;
  readonly #public: KeyObject;

  constructor(keyPem: string) {
    this.#private = createPrivateKey(keyPem);
    this.#public = createPublicKey(this.#private);
  }

  issue(claims: Omit<TokenClaims, 'id'>): string {
    const now = Math.floor(Date.now() / 1000);
    const { namespace, name, uid, boundTo } = claims;
    const owner =
      boundTo === undefined ? {} : { [boundTo.kind.toLowerCase()]: { name: boundTo.name, uid: boundTo.uid } };
    const payload = {
      iss: issuer,
      sub: `system:serviceaccount:${namespace}:${name}`,
      aud: claims.audiences,
      exp: claims.expires,
      iat: now,
      nbf: now,
      jti: randomUUID(),
      'kubernetes.io': { namespace, serviceaccount: { name, uid }, ...owner },
    };
    const text = `${encoded({ alg: 'ES256', typ: 'JWT' })}.${encoded(payload)}`;
    const signature = sign('sha256', Buffer.from(text), { key: this.#private, dsaEncoding: 'ieee-p1363' });
    return `${text}.${signature.toString('base64url')}`;
  }

  /** The claims of a token; undefined when it has expired or was not signed with this key. */
  read(token: string): TokenClaims | undefined {
    const parts = token.split('.');
    if (parts.length !== 3) return undefined;
    const [head = '', body = '', signature = ''] = parts;
    const key = { key: this.#public, dsaEncoding: 'ieee-p1363' } as const;
    if (!verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))) return undefined;
    const payload = JSON.parse(Buffer.from(body, 'base64url').toString()) as Payload;
    if (payload.iss !== issuer || payload.exp * 1000 <= Date.now()) return undefined;
    const { namespace, serviceaccount, pod, secret, node } = payload['kubernetes.io'];
    const boundTo = pod !== undefined ? bound('Pod', pod) : secret !== undefined ? bound('Secret', secret) : undefined;
    const owner = boundTo ?? (node === undefined ? undefined : bound('Node', node));
    return {
      namespace,
      name: serviceaccount.name,
      uid: serviceaccount.uid,
      audiences: payload.aud,
      expires: payload.exp,
      id: payload.jti,
      ...(owner !== undefined && { boundTo: owner }),
    };
  }
}

interface Payload {
  readonly iss: string;
  readonly aud: readonly string[];
  readonly exp: number;
  readonly jti: string;
  readonly 'kubernetes.io': {
    readonly namespace: string;
    readonly serviceaccount: Named;
    readonly pod?: Named;
    readonly secret?: Named;
    readonly node?: Named;
  };
}

interface Named {
  readonly name: string;
  readonly uid: string;
}

function bound(kind: string, { name, uid }: Named): NonNullable<TokenClaims['boundTo']> {
  return { kind, name, uid };
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
