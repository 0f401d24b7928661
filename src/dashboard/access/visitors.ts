// Who looks at the dashboard of a cluster. They say so by a bearer token: once in a form, which the cookie then stands for,
// or in the Authorization header of every request, which a proxy may add. What they write, they write with that token.
import type { IncomingMessage } from 'node:http';
import type { Client } from '../../kube/index.ts';
import { Refused } from '../refused.ts';
import { isLoopback } from './hosts.ts';
import type { Rights } from './rights.ts';
import { cookieIn, openSession, sealSession, setCookie } from './session-cookie.ts';
import type { SignedIn } from './session-cookie.ts';
import { Tokens } from './tokens.ts';

/** Whoever looks. */
export interface Visitor {
  readonly name?: string;
  /** When they have to sign in again, in milliseconds; of who signed in by the form. */
  readonly until?: number;
  /** What they may do; everything, where there is nobody to ask. */
  readonly rights: Rights | undefined;
  /** Rejects once they may no longer be answered. */
  check(): Promise<void>;
  /** Does something with a client that has their rights. */
  inTheirName<T>(act: (client: Client) => Promise<T>): Promise<T>;
}

export interface AccessOptions {
  /** Our own: to ask who somebody is, and what they may do. */
  readonly client: Client;
  /** A client with a token of somebody else's, and with nothing of ours. */
  readonly connectAs: (token: string) => Client;
  /** What sessions are sealed with. */
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

  /** Who sent a request; refuses those of whom that is not known. */
  async visitor(request: IncomingMessage): Promise<Visitor> {
    const { token, until } = this.#credentials(request);
    const { name, rights } = await this.#tokens.personBy(token);
    return {
      name,
      rights,
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

  /** Begins a session: who it is, and the header that keeps it. */
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

  /** The header that ends a session. */
  signOut(request: IncomingMessage): string {
    return setCookie('', { isSecure: isSecure(request), maxAgeMs: 0 });
  }

  #credentials(request: IncomingMessage): Pick<SignedIn, 'token'> & Partial<SignedIn> {
    const { authorization, cookie } = request.headers;
    // Who sends both means the header; a bad one is not made up for by the cookie.
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

/** Whether the browser came by TLS: to us, or to whoever stands before us, as we take tokens by no other way. */
function isSecure({ socket, headers }: IncomingMessage): boolean {
  return 'encrypted' in socket || !isLoopback(headers.host);
}
