// Answers of the API server that may be refused: the rest of what a command shows is still worth showing.
import { isForbidden, isNotFound } from '../../kube/errors.ts';

/** An answer; undefined where there is nothing, or nothing that we may see. */
export async function readable<R>(answer: Promise<R>): Promise<R | undefined> {
  const seen = await visible(answer);
  return seen === 'hidden' ? undefined : seen;
}

/** The same, where it matters which of both it is. */
export async function visible<R>(answer: Promise<R>): Promise<R | 'hidden' | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isForbidden(error)) return 'hidden';
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
