// Questions to the server, and writes.
import type { Problem } from '../../data.ts';
import { store } from './store.ts';

/** What the server says went wrong. */
class AskFailed extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.error);
    this.problem = problem;
  }
}

/** Asks, and returns the answer. */
export async function ask<A>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<A> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      cache: 'no-store',
      ...(method !== 'GET' && { headers: { 'content-type': 'application/json' } }),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  } catch {
    throw new AskFailed({ error: 'The server does not respond.', hint: 'It may have been stopped: start it again.' });
  }
  const answer: unknown = await response.json().catch(() => ({ error: `The server answers with ${response.status}.` }));
  // A session may end between two questions. Whoever signs in is told in place.
  if (response.status === 401 && path !== '/api/session') store.signOut((answer as Problem).error);
  if (!response.ok) throw new AskFailed(answer as Problem);
  return answer as A;
}

/** What to show of an error. */
export function problemOf(error: unknown): Problem {
  return error instanceof AskFailed ? error.problem : { error: error instanceof Error ? error.message : String(error) };
}
