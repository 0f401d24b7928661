// `offshoot plan`, also `offshoot env plan`: shows what the controllers would do for environments, and the result,
// without writing anything.
import { defaultSettings, environments, environmentTables, planEnvironments } from '../../environments/index.ts';
import type { EnvironmentPlan, EnvironmentPlanOptions, Settings } from '../../environments/index.ts';
import { worldTables } from '../../traffic/index.ts';
import { failure, interruptible } from '../exit.ts';
import { planInput } from '../manifests/intents.ts';
import type { IntentOptions, PlanInput } from '../manifests/intents.ts';
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
import { planInputOfManifests, tablesOfManifests } from './plan-manifests.ts';
import type { DataFormat } from '../terminal/output.ts';

export interface PlanOptions extends IntentOptions, EnvironmentOptions {
  readonly world?: string;
  readonly output?: DataFormat;
}

/** A plan, and the field conflicts of its files. */
interface PrintedPlan extends EnvironmentPlan {
  readonly fieldConflicts: readonly PlannedFieldConflict[];
}

const ACCEPTED = { checks: [environmentCheck], one: 'an environment' };
const TABLES = [...environmentTables, ...worldTables];

/** Prints the plan. Exit code 2 if there are changes, 1 if an environment would make no progress. */
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
    const input = await planInput(name, ENVIRONMENT, ACCEPTED, options, connection);
    const planOptions = planOptionsOf(name, input, connection.namespace, settings);
    const { client } = connection;
    const fieldConflicts = await fieldConflictsOf(client, input.written);
    const plan = await interruptible((signal) =>
      withTables(client, TABLES, signal, (tables) => {
        const dryRuns = new DryRuns({ client, tables, controller: planOptions.controllers[0]!.name, signal });
        return dryRuns.repeat((known) => planEnvironments({ ...planOptions, tables, ...known }));
      }),
    );
    return { ...plan, fieldConflicts };
  });
}

/** Without a server, the writes can't be validated by dry runs. */
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
  const input = planInputOfManifests(name, tables, ACCEPTED, options, namespace);
  return { ...planEnvironments({ ...planOptionsOf(name, input, namespace, settings), tables }), fieldConflicts: [] };
}

function planOptionsOf(
  name: string | undefined,
  { existing, intents }: PlanInput,
  namespace: string,
  settings: Settings,
): Omit<EnvironmentPlanOptions, 'tables'> & Required<Pick<EnvironmentPlanOptions, 'controllers'>> {
  const isAll = name === undefined && intents.length === 0;
  return {
    controllers: environments(settings),
    settings,
    now: Date.now(),
    environments: existing,
    intents,
    ...(isAll && { orphansIn: [namespace] }),
  };
}
