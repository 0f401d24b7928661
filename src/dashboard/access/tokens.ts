// The user behind a bearer token, by TokenReviews that are cached for seconds, and what the user may do.
import { createHash } from 'node:crypto';
import { BoundedMap } from '../../kube/bounded-map.ts';
import { ApiError, isForbidden, reviewAccess, reviewToken } from '../../kube/index.ts';
import type { Client, UserInfo } from '../../kube/index.ts';
import { Refused } from '../refused.ts';
import { Permissions, TRUST_MS } from './permissions.ts';

export interface Person {
  readonly name: string;
  readonly permissions: Permissions;
}

interface Reviewed {
  readonly until: number;
  readonly user: Promise<UserInfo | undefined>;
  person?: Person & { readonly user: string };
}

/** Limits of cached tokens and concurrent reviews: a flood of requests must not reach the API server. */
const MAX_TOKENS = 1_000;
const MAX_REVIEWS = 32;

/** The syntax of RFC 6750. */
const TOKEN = /^[\w.~+/-]+=*$/;

export class Tokens {
  readonly #client: Client;
  readonly #now: () => number;
  /** By digest, so that the tokens themselves are not kept in memory. */
  readonly #reviewed = new BoundedMap<string, Reviewed>(MAX_TOKENS);
  #reviewing = 0;

  /** `client` needs permission to create TokenReviews and SubjectAccessReviews. */
  constructor(client: Client, now: () => number = Date.now) {
    this.#client = client.flow('dashboard');
    this.#now = now;
  }

  /** The user of a token. Throws if the API server does not accept it. */
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
    if (this.#reviewing >= MAX_REVIEWS) {
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

/** A person; cached permissions are kept as long as the API server reports the same user. */
function personOf(
  client: Client,
  user: UserInfo,
  now: () => number,
  before: Reviewed['person'],
): Reviewed['person'] & object {
  const id = JSON.stringify(user);
  if (before?.user === id) return before;
  const review: ConstructorParameters<typeof Permissions>[0] = (question) =>
    reviewAccess(client, user, question).catch((error: unknown) => {
      throw problemOf(error);
    });
  return { name: user.username ?? '', permissions: new Permissions(review, now), user: id };
}

/** A review that fails denies access. */
function problemOf(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const hint = isForbidden(error)
    ? 'The dashboard needs the permissions in deploy/dashboard-rbac.yaml.'
    : 'Try again in a moment.';
  return new Refused(503, 'the API server could not check who you are and what you may read', hint);
}
