// `offshoot env plan`: what the controllers would do about environments, and with which result, without doing it.
import type { Intent } from '../../controller/index.ts';
import { defaultSettings, environments, environmentTables, planEnvironments } from '../../environments/index.ts';
import type { EnvironmentPlan, PlannedEnvironment } from '../../environments/index.ts';
import type { Ref } from '../../kube/objects.ts';
import { interruptible } from '../exit.ts';
import { askedFor } from '../manifests/intents.ts';
import type { IntentOptions } from '../manifests/intents.ts';
import { DryRuns } from '../objects/dry-runs.ts';
import { withTables } from '../objects/tables.ts';
import { withConnection } from '../options.ts';
import type { Connection } from '../options.ts';
import { environmentSettings } from '../run/environment-flags.ts';
import type { EnvironmentOptions } from '../run/environment-flags.ts';
import type { Paint } from '../terminal/colour.ts';
import { printPlan } from '../terminal/plan.ts';
import { environmentCheck } from './check.ts';
import { ENVIRONMENT } from './get.ts';

export interface PlanOptions extends IntentOptions, EnvironmentOptions {
  readonly output?: 'json' | 'yaml';
}

const ACCEPTED = { checks: [environmentCheck], one: 'an environment' };

/** Prints what would happen; exit code 2 if that is anything, 1 if an environment would get no further. */
export function planEnvironmentsCommand(name: string | undefined, options: PlanOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const { asked, intents } = await askedFor(name, ENVIRONMENT, ACCEPTED, options, connection);
    const plan = await interruptible((signal) => planned(connection, asked, intents, options, signal));
    const isStalled = plan.stalled.length > 0 || plan.environments.some(({ problem }) => problem !== undefined);
    printPlan(plan, { output: options.output, isStalled, outcome: outcomeLines });
  });
}

function planned(
  { client }: Connection,
  asked: readonly Ref[],
  intents: readonly Intent[],
  options: PlanOptions,
  signal: AbortSignal,
): Promise<EnvironmentPlan> {
  const settings = { ...defaultSettings, ...environmentSettings(options) };
  const controllers = environments(settings);
  return withTables(client, environmentTables, signal, (tables) => {
    const dryRuns = new DryRuns({ client, tables, controller: controllers[0]!.name, signal });
    const now = Date.now();
    return dryRuns.repeat((known) =>
      planEnvironments({ controllers, settings, tables, now, environments: asked, intents, ...known }),
    );
  });
}

/** How the environments would be. */
function outcomeLines({ environments: all, assumedReady, changes }: EnvironmentPlan, paint: Paint): string[] {
  const hasRoutes = changes.some(({ kind }) => kind === 'VirtualService');
  const waits = hasRoutes && assumedReady.length > 0 ? ['Routes come once the pods of their clones are ready.'] : [];
  return [...waits, ...all.map((each) => environmentLine(each, paint))];
}

function environmentLine({ environment, state, problem, message }: PlannedEnvironment, paint: Paint): string {
  const would = `Environment ${environment} would be ${state}`;
  if (problem !== undefined) return `${paint('bad', '!')} ${would} and get no further: ${problem}`;
  return message === undefined ? `${would}.` : `${would}: ${message}`;
}
