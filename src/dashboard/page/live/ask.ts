// Requests to the server.
import type { Problem } from '../../data.ts';
import { store } from './store.ts';

/** An error that the server reported. */
class AskFailed extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.error);
    this.problem = problem;
  }
}

/** Sends a request, and returns the answer. */
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
  // A session may expire between two requests. The sign-in form shows its own errors.
  if (response.status === 401 && path !== '/api/session') store.signOut((answer as Problem).error);
  if (!response.ok) throw new AskFailed(answer as Problem);
  return answer as A;
}

/** What to show of an error. */
export function problemOf(error: unknown): Problem {
  return error instanceof AskFailed ? error.problem : { error: error instanceof Error ? error.message : String(error) };
}
