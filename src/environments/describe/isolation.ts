// Whether an environment is isolated, as text: the same in a plan, a proof, a description and a list.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { conditionsOf } from '../../controller/index.ts';
import type { Condition } from '../../controller/index.ts';

/** Text for each verdict of the proof. */
export const ISOLATION = {
  True: 'isolated',
  False: 'not isolated',
  Unknown: 'possibly not isolated',
} as const;

/** The same with the reason: `not isolated: a request without its key is routed differently`. */
export function isolationText(verdict: keyof typeof ISOLATION, message: string): string {
  return `${ISOLATION[verdict]}: ${message}`;
}

/** The condition with the verdict of the proof. */
export function isolationOf(env: DynamicEnv): Condition | undefined {
  return conditionsOf(env).find(({ type }) => type === 'Isolated');
}

/** Why an environment is not, or possibly not, isolated; undefined if it is. */
export function isolationProblem(env: DynamicEnv): string | undefined {
  const { status = 'True', message = '' } = isolationOf(env) ?? {};
  return status === 'True' ? undefined : isolationText(status, message);
}
