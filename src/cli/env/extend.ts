// `offshoot env extend`: extends the time to live of environments.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { EXTENDED_UNTIL, lifetimeOf, MAX_TTL_MS } from '../../environments/index.ts';
import { parseDuration } from '../../kube/duration.ts';
import { keyOf } from '../../kube/objects.ts';
import { timestamp } from '../../kube/times.ts';
import { failure, invalidFlag } from '../exit.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions, DryRun } from '../options.ts';
import { dryRunSuffix } from '../objects/delete.ts';
import { objectPrinter } from '../terminal/output.ts';
import type { OutputFormat } from '../terminal/output.ts';
import { annotateEnvironment } from './annotate.ts';
import { selectObjects } from '../objects/select.ts';
import type { SelectOptions } from '../objects/select.ts';
import { ENVIRONMENT } from './get.ts';

export interface ExtendOptions extends ClusterOptions, SelectOptions {
  readonly by?: string;
  readonly dryRun: DryRun;
  readonly output?: OutputFormat;
}

/** Extends environments by `--by`, or by their ttl. */
export function extendEnvironments(names: readonly string[], options: ExtendOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const { client } = connection;
    const environments = await selectObjects(ENVIRONMENT, names, options, connection, 'extend');
    if (environments.length === 0) return;
    const now = Date.now();
    // Check all of them before changing any.
    const extended = environments.map((env) => ({ env, until: extensionOf(env, options.by, now) }));
    const printer = objectPrinter(options.output);
    for (const { env, until } of extended) {
      const after = await annotateEnvironment(client, env, { [EXTENDED_UNTIL]: until }, options.dryRun);
      printer.print(after, `extended until ${until}${dryRunSuffix(options.dryRun)}`);
    }
    printer.end();
  });
}

/** The new expiry of an environment: the time is added to what is left. */
function extensionOf(env: DynamicEnv, by: string | undefined, now: number): string {
  const lifetime = lifetimeOf(env, now);
  if (lifetime === undefined) {
    throw failure('NoTimeToLive', `environment ${keyOf(env.metadata)} has no spec.ttl: it lives until it is deleted`);
  }
  const until = Math.max(now, lifetime.expiresAt) + parseDuration(by ?? env.spec.ttl!.duration)!;
  if (until - now <= MAX_TTL_MS) return timestamp(until);
  throw invalidFlag('--by', by ?? '', `environment ${keyOf(env.metadata)} would live longer than 365 days from now`);
}
