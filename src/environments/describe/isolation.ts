// Whether an environment leaves the requests of others alone, in words: the same in a plan, a proof, a description and a list.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { conditionsOf } from '../../controller/index.ts';
import type { Condition } from '../../controller/index.ts';

/** What an environment is by the verdict of its proof. */
export const ISOLATION = {
  True: 'isolated',
  False: 'not isolated',
  Unknown: 'possibly not isolated',
} as const;

/** The same with the reason: `not isolated: a request without its key is routed differently`. */
export function isolationText(verdict: keyof typeof ISOLATION, message: string): string {
  return `${ISOLATION[verdict]}: ${message}`;
}

/** The condition that tells of the proof. */
export function isolationOf(env: DynamicEnv): Condition | undefined {
  return conditionsOf(env).find(({ type }) => type === 'Isolated');
}

/** What is amiss: others are concerned, or may be. */
export function isolationProblem(env: DynamicEnv): string | undefined {
  const { status = 'True', message = '' } = isolationOf(env) ?? {};
  return status === 'True' ? undefined : isolationText(status, message);
}
