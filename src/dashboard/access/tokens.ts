// Whose a bearer token is, and what they may do: asked of the API server, and believed for seconds.
import { createHash } from 'node:crypto';
import { BoundedMap } from '../../kube/bounded-map.ts';
import { ApiError, isForbidden, reviewAccess, reviewToken } from '../../kube/index.ts';
import type { Client, UserInfo } from '../../kube/index.ts';
import { Refused } from '../refused.ts';
import { Rights, TRUST_MS } from './rights.ts';

export interface Person {
  readonly name: string;
  readonly rights: Rights;
}

interface Reviewed {
  readonly until: number;
  readonly user: Promise<UserInfo | undefined>;
  person?: Person & { readonly user: string };
}

/** Tokens that are remembered, and reviews at a time: whoever floods us must not flood the API server. */
const MOST_TOKENS = 1_000;
const MOST_REVIEWS = 32;

/** As RFC 6750 has it. */
const TOKEN = /^[\w.~+/-]+=*$/;

export class Tokens {
  readonly #client: Client;
  readonly #now: () => number;
  /** By a digest: the tokens themselves stay where they came from. */
  readonly #reviewed = new BoundedMap<string, Reviewed>(MOST_TOKENS);
  #reviewing = 0;

  /** Asks with our own client, which needs the right to create reviews. */
  constructor(client: Client, now: () => number = Date.now) {
    this.#client = client.flow('dashboard');
    this.#now = now;
  }

  /** Whose a token is. Refuses one that the API server does not take, or no longer. */
  async personBy(token: string): Promise<Person> {
    const id = createHash('sha256').update(token).digest('base64');
    const before = this.#reviewed.get(id);
    const reviewed =
      before !== undefined && before.until > this.#now()
        ? before
        : TOKEN.test(token)
          ? this.#review(id, token)
          : undefined;
    const user = await reviewed?.user;
    if (reviewed === undefined || user === undefined) {
      throw new Refused(
        401,
        'the API server does not know this token',
        'It may have expired: sign in with another one.',
      );
    }
    return (reviewed.person ??= personOf(this.#client, user, this.#now, before?.person));
  }

  #review(id: string, token: string): Reviewed {
    if (this.#reviewing >= MOST_REVIEWS) {
      throw new Refused(503, 'too many people are signing in at once', 'Try again in a moment.');
    }
    this.#reviewing++;
    const user = reviewToken(this.#client, token)
      .catch((error: unknown) => {
        this.#reviewed.delete(id);
        throw problemOf(error);
      })
      .finally(() => this.#reviewing--);
    const reviewed: Reviewed = { until: this.#now() + TRUST_MS, user };
    this.#reviewed.set(id, reviewed);
    return reviewed;
  }
}

/** Somebody; with the answers that there are already, as long as they are the same to the API server. */
function personOf(
  client: Client,
  user: UserInfo,
  now: () => number,
  before: Reviewed['person'],
): Reviewed['person'] & object {
  const id = JSON.stringify(user);
  if (before?.user === id) return before;
  const review: ConstructorParameters<typeof Rights>[0] = (question) =>
    reviewAccess(client, user, question).catch((error: unknown) => {
      throw problemOf(error);
    });
  return { name: user.username ?? '', rights: new Rights(review, now), user: id };
}

/** Without an answer, nobody is let in, and nothing is shown. */
function problemOf(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const hint = isForbidden(error)
    ? 'The dashboard needs the rights of deploy/dashboard-rbac.yaml.'
    : 'Try again in a moment.';
  return new Refused(503, 'the API server could not check who you are and what you may read', hint);
}
