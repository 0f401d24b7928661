// The users of a cluster's dashboard. They authenticate with a bearer token: once in the sign-in form, which sets a
// cookie, or in the Authorization header of every request, which a proxy may add. Writes use the same token.
import type { IncomingMessage } from 'node:http';
import type { Client } from '../../kube/index.ts';
import { Refused } from '../refused.ts';
import { isLoopback } from './hosts.ts';
import type { Permissions } from './permissions.ts';
import { cookieIn, openSession, sealSession, setCookie } from './session-cookie.ts';
import type { SignedIn } from './session-cookie.ts';
import { Tokens } from './tokens.ts';

/** A user of the dashboard. */
export interface Visitor {
  readonly name?: string;
  /** When the session expires, in milliseconds; only after signing in with the form. */
  readonly until?: number;
  /** What they may do; undefined: everything. */
  readonly permissions: Permissions | undefined;
  /** Rejects once the session has expired or the token is no longer valid. */
  check(): Promise<void>;
  /** Runs a function with a client that has their permissions. */
  inTheirName<T>(act: (client: Client) => Promise<T>): Promise<T>;
}

export interface AccessOptions {
  /** Our own client, for token and access reviews. */
  readonly client: Client;
  /** Creates a client with the user's token and none of our credentials. */
  readonly connectAs: (token: string) => Client;
  /** The key that seals sessions. */
  readonly key: Buffer;
  /** How long a session lasts. */
  readonly sessionMs: number;
  readonly now?: () => number;
}

export class Access {
  readonly #options: AccessOptions;
  readonly #tokens: Tokens;
  readonly #now: () => number;

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#tokens = new Tokens(options.client, this.#now);
  }

  /** The user who sent a request. Throws if there is no valid token. */
  async visitor(request: IncomingMessage): Promise<Visitor> {
    const { token, until } = this.#credentials(request);
    const { name, permissions } = await this.#tokens.personBy(token);
    return {
      name,
      permissions,
      ...(until !== undefined && { until }),
      check: async () => {
        if (until !== undefined && until <= this.#now()) throw new Refused(401, 'the session is over', SIGN_IN);
        await this.#tokens.personBy(token);
      },
      inTheirName: async (act) => {
        const client = this.#options.connectAs(token);
        try {
          return await act(client);
        } finally {
          client.close();
        }
      },
    };
  }

  /** Starts a session: the user's name, and the Set-Cookie header. */
  async signIn(request: IncomingMessage, token: string): Promise<{ readonly name: string; readonly cookie: string }> {
    const { origin = '', host } = request.headers;
    if (!origin.startsWith('https:') && !isLoopback(host)) {
      throw new Refused(
        403,
        'a token must not travel without TLS',
        `Open https://${host}/, or use "kubectl port-forward".`,
      );
    }
    const { name } = await this.#tokens.personBy(token.trim());
    const { key, sessionMs } = this.#options;
    const sealed = sealSession(key, { token: token.trim(), until: this.#now() + sessionMs });
    if (sealed === undefined) {
      const hint = 'Let a proxy send it in the Authorization header, or use the token of a service account.';
      throw new Refused(413, 'the token is too long for a cookie', hint);
    }
    return { name, cookie: setCookie(sealed, { isSecure: isSecure(request), maxAgeMs: sessionMs }) };
  }

  /** The Set-Cookie header that ends a session. */
  signOut(request: IncomingMessage): string {
    return setCookie('', { isSecure: isSecure(request), maxAgeMs: 0 });
  }

  #credentials(request: IncomingMessage): Pick<SignedIn, 'token'> & Partial<SignedIn> {
    const { authorization, cookie } = request.headers;
    // The Authorization header wins; an invalid one does not fall back to the cookie.
    if (authorization !== undefined) {
      const [, token] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
      if (token === undefined) throw new Refused(401, 'the Authorization header has no bearer token', SIGN_IN);
      return { token };
    }
    const sealed = cookieIn(cookie, isSecure(request));
    const session = sealed === undefined ? undefined : openSession(this.#options.key, sealed, this.#now());
    if (session === undefined) throw new Refused(401, sealed ? 'the session is over' : 'nobody has signed in', SIGN_IN);
    return session;
  }
}

const SIGN_IN = 'Sign in with a token of the cluster.';

/** Whether the browser uses TLS, to us or to a proxy in front of us: only loopback goes without. */
function isSecure({ socket, headers }: IncomingMessage): boolean {
  return 'encrypted' in socket || !isLoopback(headers.host);
}
