// What one user may do, asked of the API server by SubjectAccessReviews as far as somebody wants to know. Answers are good
// for seconds: a right that is taken away is noticed soon, and a page that is open costs few questions.
import type { May, Resource, Verb } from '../model/scope.ts';

/** How long an answer counts. */
export const TRUST_MS = 5_000;
/** Questions at a time: the API server has others to answer. */
const AT_ONCE = 16;

export interface Question {
  readonly verb: Verb;
  readonly group: string;
  readonly resource: string;
  /** In all namespaces, where there is none. */
  readonly namespace?: string;
}

interface Answer {
  readonly until: number;
  readonly allowed: Promise<boolean>;
  /** Once it is there. */
  known?: boolean;
}

export class Rights {
  readonly #review: (question: Question) => Promise<boolean>;
  readonly #now: () => number;
  readonly #answers = new Map<string, Answer>();
  #free = AT_ONCE;
  readonly #waiting: (() => void)[] = [];

  /** Asks by `review`. */
  constructor(review: (question: Question) => Promise<boolean>, now: () => number = Date.now) {
    this.#review = review;
    this.#now = now;
  }

  /** The answer, if it is known and not too old. What is allowed everywhere is allowed in every namespace. */
  peek(question: Question): boolean | undefined {
    const { namespace: _namespace, ...everywhere } = question;
    if (this.#current(everywhere)?.known === true) return true;
    return this.#current(question)?.known;
  }

  /** Gets an answer. */
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
    const answer: Answer = { until: this.#now() + TRUST_MS, allowed: this.#inTurn(question) };
    this.#answers.set(id, answer);
    answer.allowed.then(
      (allowed) => (answer.known = allowed),
      // Asked again by who asks next.
      () => this.#answers.delete(id),
    );
    return answer.allowed;
  }

  async #inTurn(question: Question): Promise<boolean> {
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
 * Computes something by what a user may do. Rights that turn out to be needed and are not known count as missing, are
 * asked for, and it is computed again.
 */
export async function settle<T>(rights: Rights | undefined, compute: (may: May) => T): Promise<T> {
  if (rights === undefined) return compute(() => true);
  // What was learned on the way counts to the end, however long that takes.
  const learned = new Map<string, boolean>();
  for (;;) {
    const unknown = new Map<string, Question>();
    const may: May = (verb, resource, namespace) => {
      if (isSecret(resource)) return false;
      const question = questionOf(verb, resource, namespace);
      const id = JSON.stringify(question);
      const known = learned.get(id) ?? rights.peek(question);
      if (known === undefined) unknown.set(id, question);
      return known ?? false;
    };
    try {
      const value = compute(may);
      if (unknown.size === 0) return value;
    } catch (error) {
      if (unknown.size === 0) throw error;
    }
    await Promise.all([...unknown].map(async ([id, question]) => learned.set(id, await rights.ask(question))));
  }
}

/** Nobody sees Secrets here: a dashboard for many has no right to read them. */
function isSecret({ group, plural }: Resource): boolean {
  return group === '' && plural === 'secrets';
}

function questionOf(verb: Verb, { group, plural }: Resource, namespace: string | undefined): Question {
  return { verb, group, resource: plural, ...(namespace !== undefined && namespace !== '' && { namespace }) };
}
