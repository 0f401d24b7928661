// `offshoot env plan`: what the controllers would do about environments, and with which result, without doing it.
import { defaultSettings, environments, environmentTables, planEnvironments } from '../../environments/index.ts';
import type {
  EnvironmentPlan,
  EnvironmentPlanOptions,
  PlannedEnvironment,
  PlannedOrphan,
  PlannedProof,
  Settings,
} from '../../environments/index.ts';
import { worldTables } from '../../traffic/index.ts';
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
    const isAll = name === undefined && intents.length === 0;
    const question = { environments: asked, intents, ...(isAll && { orphansIn: [connection.namespace] }) };
    const plan = await interruptible((signal) => planned(connection, question, options, signal));
    const isStalled = plan.stalled.length > 0 || plan.environments.some(({ problem }) => problem !== undefined);
    const settings = settingsOf(options);
    printPlan(plan, {
      output: options.output,
      isStalled,
      outcome: (made, paint) => outcomeLines(made, settings, paint),
    });
  });
}

function planned(
  { client }: Connection,
  question: Pick<EnvironmentPlanOptions, 'environments' | 'intents' | 'orphansIn'>,
  options: PlanOptions,
  signal: AbortSignal,
): Promise<EnvironmentPlan> {
  const settings = settingsOf(options);
  const controllers = environments(settings);
  return withTables(client, [...environmentTables, ...worldTables], signal, (tables) => {
    const dryRuns = new DryRuns({ client, tables, controller: controllers[0]!.name, signal });
    const now = Date.now();
    return dryRuns.repeat((known) => planEnvironments({ controllers, settings, tables, now, ...question, ...known }));
  });
}

function settingsOf(options: PlanOptions): Settings {
  return { ...defaultSettings, ...environmentSettings(options) };
}

/** What becomes of requests, what others left behind, and how the environments would be. */
function outcomeLines(plan: EnvironmentPlan, settings: Settings, paint: Paint): string[] {
  const { environments: all, assumedReady, changes, orphans, proofs } = plan;
  const hasRoutes = changes.some(({ kind }) => kind === 'VirtualService');
  const waits = hasRoutes && assumedReady.length > 0 ? ['Routes come once the pods of their clones are ready.'] : [];
  return [
    ...trafficLines(plan),
    ...waits,
    ...orphanLines(orphans, settings),
    ...all.flatMap((each) => {
      const proof = proofs.find(({ environment }) => environment === each.environment);
      // What can't work is nothing to be pleased with.
      const isTold = proof !== undefined && (proof.verdict !== 'True' || each.problem === undefined);
      return [environmentLine(each, paint), ...(isTold ? proofLines(proof, changes.length > 0, paint) : [])];
    }),
  ];
}

function trafficLines({ traffic: { changes, isPartial }, changes: objects }: EnvironmentPlan): string[] {
  if (objects.length === 0) return [];
  const partly = isPartial ? ['There may be more of them: not everything could be compared.'] : [];
  if (changes.length === 0) return isPartial ? partly : ['No request would go elsewhere.'];
  return ['', ...changes.map(({ text }) => text), ...partly, ''];
}

/** Where nothing changes, a proof is told of only if there is something amiss. */
function proofLines({ verdict, reason, message, notes }: PlannedProof, isChanging: boolean, paint: Paint): string[] {
  if (verdict === 'True' && !isChanging) return [];
  const signs = { True: paint('good', '✓'), False: paint('bad', '✗'), Unknown: paint('busy', '?') };
  const says = { True: 'isolated', False: `not isolated: ${reason}`, Unknown: `not known to be isolated: ${reason}` };
  return [
    `  ${signs[verdict]} ${says[verdict]}: ${message}`,
    ...(isChanging ? notes.map((note) => `    ${note}`) : []),
  ];
}

function orphanLines(orphans: readonly PlannedOrphan[], { removeOrphans, orphanGraceMs }: Settings): string[] {
  const certain = orphans.filter(({ doubt }) => doubt === undefined);
  const names = [...new Set(certain.map(({ environment }) => environment))].join(', ');
  const minutes = Math.round(orphanGraceMs / 60_000);
  const when = removeOrphans ? `is removed ${minutes} minutes after the controllers first see it` : 'is left to you';
  return [
    ...(certain.length > 0 ? [`What environments left behind that are gone (${names}) ${when}.`] : []),
    ...orphans
      .filter(({ doubt }) => doubt !== undefined)
      .map(({ object, environment, doubt }) => {
        const owner = environment === '' ? 'an environment' : `environment ${environment}`;
        return `${object} may be an orphan of ${owner} and stays: ${doubt}`;
      }),
  ];
}

function environmentLine({ environment, state, problem, message }: PlannedEnvironment, paint: Paint): string {
  const would = `Environment ${environment} would be ${state}`;
  if (problem !== undefined) return `${paint('bad', '!')} ${would} and get no further: ${problem}`;
  return message === undefined ? `${would}.` : `${would}: ${message}`;
}
