// Waits until an environment is ready, and shows its progress.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Client } from '../../kube/client/client.ts';
import { keyOf } from '../../kube/objects.ts';
import { problemsOf } from '../../api/description/tree.ts';
import {
  adviceFor,
  describeEnvironment,
  environmentSteps,
  environmentWorld,
  isCurrent,
  isFastAsleep,
  sleepingSteps,
  verdictOf,
} from '../../environments/index.ts';
import type { EnvironmentVerdict as Verdict } from '../../environments/index.ts';
import { failure } from '../exit.ts';
import type { CommandFailed } from '../exit.ts';
import { followUntil } from '../objects/follow.ts';
import { fetchFor } from '../objects/fetch.ts';
import { durationText, withProgress } from '../terminal/with-progress.ts';

/** Resolves when an environment is ready; fails with the reason when it is stalled or after the timeout. */
export async function waitReady(client: Client, env: DynamicEnv, timeoutMs: number): Promise<void> {
  const { outcome, latest } = await follow(client, env, timeoutMs, verdictOf);
  const advice = adviceFor(latest).map((text) => `\n  ${text}`);
  if (outcome?.is === 'ready') return;
  const about = `environment ${keyOf(env.metadata)}`;
  if (outcome !== undefined) {
    throw failure(
      outcome.is === 'held' ? 'NotReady' : 'Stalled',
      `${about} is ${outcome.is === 'held' ? 'not ready' : 'degraded'}: ${outcome.reason}${advice.join('')}`,
    );
  }
  const reasons = await reasonsOf(client, latest);
  throw timedOut([`${about} is not ready after ${durationText(timeoutMs)}`, ...reasons]);
}

/** Resolves when an environment is asleep and has no more pods. */
export async function waitAsleep(client: Client, env: DynamicEnv, timeoutMs: number): Promise<void> {
  const verdict = (found: DynamicEnv): Verdict => (isFastAsleep(found) ? { is: 'ready' } : { is: 'open' });
  const { outcome } = await follow(client, env, timeoutMs, verdict, sleepingSteps);
  if (outcome !== undefined) return;
  throw timedOut([`environment ${keyOf(env.metadata)} is not asleep after ${durationText(timeoutMs)}`]);
}

function timedOut(lines: readonly string[]): CommandFailed {
  return failure('TimedOut', lines.join('\n  '));
}

/** Watches an environment until there is a verdict, and shows progress; no outcome after the timeout. */
async function follow(
  client: Client,
  env: DynamicEnv,
  timeoutMs: number,
  verdictOn: (env: DynamicEnv) => Verdict,
  stepsOf = environmentSteps,
): Promise<{ readonly outcome: Exclude<Verdict, { is: 'open' }> | undefined; readonly latest: DynamicEnv }> {
  let latest = env;
  const { name, namespace } = env.metadata;
  const selection = { namespace: namespace!, fieldSelector: `metadata.name=${name}` };
  const outcome = await withProgress(
    timeoutMs,
    (signal, progress) => {
      progress.show(stepsOf(env));
      return followUntil(client, DynamicEnv, selection, signal, (table) => {
        const [found] = table.list();
        if (found === undefined) throw failure('Deleted', `environment ${keyOf(env.metadata)} was deleted`);
        latest = found;
        progress.show(stepsOf(found));
        const verdict = verdictOn(found);
        return verdict.is === 'open' ? undefined : verdict;
      });
    },
    `environment ${keyOf(env.metadata)} is left as it is, and the controller continues; see "offshoot env describe ${name} -n ${namespace}"`,
  );
  return { outcome, latest };
}

async function reasonsOf(client: Client, env: DynamicEnv): Promise<readonly string[]> {
  const { environment } = await fetchFor(client, (read) => describeEnvironment(environmentWorld(read, env)));
  const problems = problemsOf(environment);
  if (problems.length > 0 || !isCurrent(env)) return problems;
  return environmentSteps(env)
    .filter(({ state }) => state !== 'done')
    .map(({ label, note }) => `${label}: ${note}`);
}
