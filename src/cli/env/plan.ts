// `offshoot plan`, which is `offshoot env plan` too: what the controllers would do about environments, and with which
// result, without doing it.
import { defaultSettings, environments, environmentTables, planEnvironments } from '../../environments/index.ts';
import type { EnvironmentPlan, EnvironmentPlanOptions, Settings } from '../../environments/index.ts';
import { worldTables } from '../../traffic/index.ts';
import { failure, interruptible } from '../exit.ts';
import { askedFor } from '../manifests/intents.ts';
import type { Asked, IntentOptions } from '../manifests/intents.ts';
import { DryRuns } from '../objects/dry-runs.ts';
import { withTables } from '../objects/tables.ts';
import { withConnection } from '../options.ts';
import { environmentSettings } from '../run/environment-flags.ts';
import type { EnvironmentOptions } from '../run/environment-flags.ts';
import { printPlan } from '../terminal/plan.ts';
import { environmentCheck } from './check.ts';
import { ENVIRONMENT } from './get.ts';
import { fieldConflictLines, fieldConflictsOf } from './field-conflicts.ts';
import type { PlannedFieldConflict } from './field-conflicts.ts';
import { outcomeLines } from './plan-lines.ts';
import { askedOfManifests, tablesOfManifests } from './plan-manifests.ts';
import type { DataFormat } from '../terminal/output.ts';

export interface PlanOptions extends IntentOptions, EnvironmentOptions {
  readonly world?: string;
  readonly output?: DataFormat;
}

/** A plan, and what stands in the way of its files. */
interface PrintedPlan extends EnvironmentPlan {
  readonly fieldConflicts: readonly PlannedFieldConflict[];
}

const ACCEPTED = { checks: [environmentCheck], one: 'an environment' };
const TABLES = [...environmentTables, ...worldTables];

/** Prints what would happen; exit code 2 if that is anything, 1 if an environment would get no further. */
export async function planEnvironmentsCommand(name: string | undefined, options: PlanOptions): Promise<void> {
  const settings = { ...defaultSettings, ...environmentSettings(options) };
  const plan = await (options.world === undefined
    ? plannedOnCluster(name, options, settings)
    : plannedOnManifests(name, options, options.world, settings));
  const isStalled = plan.stalled.length > 0 || plan.environments.some(({ problem }) => problem !== undefined);
  printPlan(plan, {
    output: options.output,
    isStalled,
    outcome: (made, paint) => [...fieldConflictLines(made, paint), ...outcomeLines(made, settings, paint)],
  });
}

function plannedOnCluster(name: string | undefined, options: PlanOptions, settings: Settings): Promise<PrintedPlan> {
  return withConnection(options, async (connection) => {
    const asked = await askedFor(name, ENVIRONMENT, ACCEPTED, options, connection);
    const question = questionOf(name, asked, connection.namespace, settings);
    const { client } = connection;
    const fieldConflicts = await fieldConflictsOf(client, asked.written);
    const plan = await interruptible((signal) =>
      withTables(client, TABLES, signal, (tables) => {
        const dryRuns = new DryRuns({ client, tables, controller: question.controllers[0]!.name, signal });
        return dryRuns.repeat((known) => planEnvironments({ ...question, tables, ...known }));
      }),
    );
    return { ...plan, fieldConflicts };
  });
}

/** Whether a server would take the writes is not known then. */
function plannedOnManifests(
  name: string | undefined,
  options: PlanOptions,
  world: string,
  settings: Settings,
): PrintedPlan {
  if (world === '-' && options.filename?.includes('-'))
    throw failure('ConflictingFlags', 'only one of -f and --world can be -');
  const { namespace = 'default' } = options;
  const tables = tablesOfManifests(TABLES, world, namespace);
  const asked = askedOfManifests(name, tables, ACCEPTED, options, namespace);
  return { ...planEnvironments({ ...questionOf(name, asked, namespace, settings), tables }), fieldConflicts: [] };
}

function questionOf(
  name: string | undefined,
  { asked, intents }: Asked,
  namespace: string,
  settings: Settings,
): Omit<EnvironmentPlanOptions, 'tables'> & Required<Pick<EnvironmentPlanOptions, 'controllers'>> {
  const isAll = name === undefined && intents.length === 0;
  return {
    controllers: environments(settings),
    settings,
    now: Date.now(),
    environments: asked,
    intents,
    ...(isAll && { orphansIn: [namespace] }),
  };
}
