// `offshoot env sleep` and `offshoot env wake`: remove the routes and pods of environments for a while, and restore
// them.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { ASLEEP, isAsleep } from '../../environments/index.ts';
import type { Client } from '../../kube/client/client.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions, DryRun } from '../options.ts';
import { dryRunSuffix } from '../objects/delete.ts';
import { objectPrinter } from '../terminal/output.ts';
import type { OutputFormat } from '../terminal/output.ts';
import { annotateEnvironment } from './annotate.ts';
import { selectObjects } from '../objects/select.ts';
import type { SelectOptions } from '../objects/select.ts';
import { ENVIRONMENT } from './get.ts';
import { waitAsleep, waitReady } from './wait.ts';

export interface SleepOptions extends ClusterOptions, SelectOptions {
  readonly dryRun: DryRun;
  readonly output?: OutputFormat;
  readonly wait?: boolean;
  readonly timeout: number;
}

/** Puts environments to sleep; with --wait, waits until they have no pods. */
export function putToSleep(names: readonly string[], options: SleepOptions): Promise<void> {
  return change(names, options, { verb: 'put to sleep', done: 'put to sleep', annotation: 'true', wait: waitAsleep });
}

/** Wakes environments; with --wait, waits until they are ready. */
export function wake(names: readonly string[], options: SleepOptions): Promise<void> {
  return change(names, options, { verb: 'wake', done: 'woken', annotation: null, wait: waitReady });
}

interface Change {
  readonly verb: string;
  readonly done: string;
  readonly annotation: 'true' | null;
  readonly wait: (client: Client, env: DynamicEnv, timeoutMs: number) => Promise<void>;
}

function change(
  names: readonly string[],
  options: SleepOptions,
  { verb, done, annotation, wait }: Change,
): Promise<void> {
  return withConnection(options, async (connection) => {
    const { client } = connection;
    const environments = await selectObjects(ENVIRONMENT, names, options, connection, verb);
    if (environments.length === 0) return;
    const printer = objectPrinter(options.output);
    for (const env of environments) {
      const isDone = isAsleep(env) === (annotation !== null);
      const after = isDone ? env : await annotateEnvironment(client, env, { [ASLEEP]: annotation }, options.dryRun);
      const outcome = `${isDone ? `${annotation === null ? 'awake' : 'asleep'} already` : done}${dryRunSuffix(options.dryRun)}`;
      printer.print(after, outcome);
    }
    printer.end();
    if (!options.wait || options.dryRun !== 'none') return;
    for (const env of environments) await wait(client, env, options.timeout);
  });
}
