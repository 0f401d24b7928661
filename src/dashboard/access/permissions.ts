// What one user may do, by SubjectAccessReviews that are made on demand. Answers are cached for seconds: a revoked
// permission is noticed soon, and an open page costs few reviews.
import type { May, Resource, Verb } from '../model/scope.ts';

/** How long an answer is cached. */
export const TRUST_MS = 5_000;
/** The most reviews at a time, to limit the load on the API server. */
const MAX_CONCURRENT = 16;

export interface Question {
  readonly verb: Verb;
  readonly group: string;
  readonly resource: string;
  /** All namespaces if absent. */
  readonly namespace?: string;
}

interface Answer {
  readonly until: number;
  readonly allowed: Promise<boolean>;
  /** Set once the review has returned. */
  known?: boolean;
}

export class Permissions {
  readonly #review: (question: Question) => Promise<boolean>;
  readonly #now: () => number;
  readonly #answers = new Map<string, Answer>();
  #free = MAX_CONCURRENT;
  readonly #waiting: (() => void)[] = [];

  constructor(review: (question: Question) => Promise<boolean>, now: () => number = Date.now) {
    this.#review = review;
    this.#now = now;
  }

  /** The cached answer, unless it has expired. What is allowed in all namespaces is allowed in each. */
  peek(question: Question): boolean | undefined {
    const { namespace: _namespace, ...everywhere } = question;
    if (this.#current(everywhere)?.known === true) return true;
    return this.#current(question)?.known;
  }

  /** The answer, from the cache or by a review. */
  async ask(question: Question): Promise<boolean> {
    const { namespace, ...everywhere } = question;
    if (await this.#answer(everywhere)) return true;
    return namespace === undefined ? false : this.#answer(question);
  }

  #current(question: Question): Answer | undefined {
    const answer = this.#answers.get(JSON.stringify(question));
    return answer !== undefined && answer.until > this.#now() ? answer : undefined;
  }

  #answer(question: Question): Promise<boolean> {
    const current = this.#current(question);
    if (current !== undefined) return current.allowed;
    const id = JSON.stringify(question);
    const answer: Answer = { until: this.#now() + TRUST_MS, allowed: this.#limitedReview(question) };
    this.#answers.set(id, answer);
    answer.allowed.then(
      (allowed) => (answer.known = allowed),
      // The next question makes another review.
      () => this.#answers.delete(id),
    );
    return answer.allowed;
  }

  async #limitedReview(question: Question): Promise<boolean> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free--;
    try {
      return await this.#review(question);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}

/**
 * Computes something by what a user may do. Unknown permissions count as missing in the first run; they are then reviewed,
 * and it is computed again.
 */
export async function settle<T>(permissions: Permissions | undefined, compute: (may: May) => T): Promise<T> {
  if (permissions === undefined) return compute(() => true);
  // Answers from this call stay valid until it ends, even if they expire meanwhile.
  const learned = new Map<string, boolean>();
  for (;;) {
    const unknown = new Map<string, Question>();
    const may: May = (verb, resource, namespace) => {
      if (isSecret(resource)) return false;
      const question = questionOf(verb, resource, namespace);
      const id = JSON.stringify(question);
      const known = learned.get(id) ?? permissions.peek(question);
      if (known === undefined) unknown.set(id, question);
      return known ?? false;
    };
    try {
      const value = compute(may);
      if (unknown.size === 0) return value;
    } catch (error) {
      if (unknown.size === 0) throw error;
    }
    await Promise.all([...unknown].map(async ([id, question]) => learned.set(id, await permissions.ask(question))));
  }
}

/** Secrets are never shown: a shared dashboard must not have permission to read them. */
function isSecret({ group, plural }: Resource): boolean {
  return group === '' && plural === 'secrets';
}

function questionOf(verb: Verb, { group, plural }: Resource, namespace: string | undefined): Question {
  return { verb, group, resource: plural, ...(namespace !== undefined && namespace !== '' && { namespace }) };
}
