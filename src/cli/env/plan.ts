// `offshoot env plan`: what the controller's own planner would do with environments, without doing it.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { carryOut, WhatIf } from '../../controller/index.ts';
import {
  CONTROLLER,
  defaultSettings,
  environmentTables,
  planEnvironment,
  planRoutesOf,
  routeChanges,
  routeWishes,
} from '../../environments/index.ts';
import type { RouteChanges } from '../../environments/index.ts';
import { Applier } from '../../kube/write/apply.ts';
import type { Outcome, StepFailed } from '../../kube/write/apply.ts';
import type { Client } from '../../kube/client/client.ts';
import { systemClock } from '../../kube/clock.ts';
import { isForbidden, isTransient } from '../../kube/errors.ts';
import { keyOf } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { describe, editPatch } from '../../kube/write/steps.ts';
import { Tables } from '../../kube/tables/tables.ts';
import { painter } from '../terminal/colour.ts';
import type { Paint } from '../terminal/colour.ts';
import { applyEnvironment } from './apply.ts';
import { environmentsIn } from './files.ts';
import { ENVIRONMENT, getEnvironment } from './get.ts';
import { CommandFailed, EXIT, failure, interruptible } from '../exit.ts';
import { listOfKind } from '../objects/find.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions, Connection } from '../options.ts';
import { dataText } from '../terminal/output.ts';
import { environmentSettings } from '../run/environment-flags.ts';
import type { EnvironmentOptions } from '../run/environment-flags.ts';

export interface PlanOptions extends ClusterOptions, EnvironmentOptions {
  readonly filename?: readonly string[];
  readonly output?: 'json' | 'yaml';
}

/** One thing that would happen, or that the server would refuse. */
interface PlannedChange {
  readonly environment: string;
  readonly do: 'create' | 'change' | 'remove' | 'refused';
  readonly object: string;
  /** Of what is refused: why. */
  readonly message?: string;
  /** Of an object of others: what would be written into it. */
  readonly patch?: Readonly<Record<string, unknown>>;
  /** Of a VirtualService: the routes of environments that would come and go. */
  readonly routes?: RouteChanges;
}

/** Prints what would be done; exit code 2 if that is anything. */
export function planEnvironments(name: string | undefined, options: PlanOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const environments = await selectEnvironments(name, options, connection);
    const changes = await interruptible((signal) => changesOf(connection.client, environments, options, signal));
    if (options.output !== undefined) process.stdout.write(dataText(options.output, changes));
    else for (const line of changeLines(changes, painter(process.stdout))) console.log(line);
    if (changes.length > 0) throw new CommandFailed(EXIT.changes);
  });
}

/** Those that the cluster has, and those of files as they would be after they are applied. */
async function selectEnvironments(
  name: string | undefined,
  options: PlanOptions,
  { client, namespace }: Connection,
): Promise<readonly DynamicEnv[]> {
  if (name !== undefined && options.filename !== undefined) {
    throw failure(`NAME "${name}": with -f, names come from the files; leave it out`);
  }
  if (name !== undefined) return [await getEnvironment(client, { name, namespace })];
  if (options.filename === undefined) return listOfKind(client, ENVIRONMENT, { namespace });
  const environments = environmentsIn(options.filename, options, namespace);
  // Whoever applied them before, with kubectl perhaps, is no obstacle to a plan.
  return Promise.all(environments.map((env) => applyEnvironment(client, env, { dryRun: true, force: true })));
}

async function changesOf(
  client: Client,
  environments: readonly DynamicEnv[],
  options: PlanOptions,
  signal: AbortSignal,
): Promise<PlannedChange[]> {
  // Routes that would wait for clone and rule are part of what is going to happen.
  const settings = { ...defaultSettings, ...environmentSettings(options), routeAfterMs: 0, settleMs: 0 };
  const tables = new Tables(environmentTables);
  const ending = new AbortController();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  const running = tables.run({
    client,
    clock: systemClock,
    signal: ending.signal,
    onError: (table, error) => {
      if (!isTransient(error) && !(table.optional && isForbidden(error))) failed.reject(error);
    },
  });
  try {
    await Promise.race([tables.whenSynced(signal), failed.promise]);
    for (const env of environments) tables.of(DynamicEnv).observe(env);
    const world = new WhatIf({ tables, now: () => Date.now() });
    const wishes = routeWishes(settings);
    const applier = new Applier({ client, tables, manager: `offshoot-${CONTROLLER}` });
    const changes: PlannedChange[] = [];
    for (const env of environments) {
      const { plan, outcomes, refused } = await carryOut(
        (refusal) => world.plan('plan', (view) => planEnvironment(view, env, settings), refusal),
        (steps) => applier.apply(steps, { dryRun: true, signal }),
      );
      // Nothing was done, so the last try shows all that can be.
      const last = outcomes.slice(outcomes.length - (plan.steps?.length ?? 0));
      // Routes follow once clone and rules are there.
      for (const { step, did, object } of last) if (object && did !== 'removed') world.put(step.kind, object);
      const key = keyOf(env.metadata);
      const edits = world.plan('routes', (view) => planRoutesOf(view, key, { wishes }, settings));
      const routes = await carryOut(
        (refusal) => ({ steps: edits.filter(({ kind, to }) => refusal(kind, to.metadata) === undefined) }),
        (steps) => applier.apply(steps, { dryRun: true, signal }),
      );
      changes.push(
        ...[...last, ...routes.outcomes].flatMap((outcome) => changeOf(env, outcome)),
        ...[...refused, ...routes.refused].map((each) => refusalOf(env, each)),
      );
    }
    world.close();
    return changes;
  } finally {
    ending.abort();
    await running;
  }
}

const WORDS = { created: 'create', changed: 'change', removed: 'remove' } as const;

function changeOf(env: DynamicEnv, { step, did, object }: Outcome): PlannedChange[] {
  if (did === 'nothing') return [];
  const about: KubeObject = object ?? (step.do === 'edit' ? step.to : step.object);
  const patch = step.do === 'edit' ? editPatch(step) : undefined;
  return [
    {
      environment: keyOf(env.metadata),
      do: WORDS[did],
      object: `${step.kind.kind} ${keyOf(about.metadata)}`,
      ...(patch && { patch }),
      ...(step.do === 'edit' && step.kind.kind === 'VirtualService' && { routes: routeChanges(step.from, step.to) }),
    },
  ];
}

function refusalOf({ metadata }: DynamicEnv, { step, cause }: StepFailed): PlannedChange {
  const message = cause.status?.message ?? cause.message;
  return { environment: keyOf(metadata), do: 'refused', object: describe(step), message };
}

/** A plan as lines of text. */
function changeLines(changes: readonly PlannedChange[], paint: Paint): string[] {
  if (changes.length === 0) return ['Nothing to do.'];
  const signs = {
    create: paint('good', '+'),
    change: paint('busy', '~'),
    remove: paint('bad', '-'),
    refused: paint('bad', '!'),
  } as const;
  let environment = '';
  return changes.flatMap((change) => {
    const heading = change.environment === environment ? [] : [`Environment ${change.environment}`];
    environment = change.environment;
    const { added, removed } = change.routes ?? { added: [], removed: [] };
    return [
      ...heading,
      `  ${signs[change.do]} ${change.object}${change.message === undefined ? '' : `: ${change.message}`}`,
      ...added.map((route) => `      ${signs.create} route ${route}`),
      ...removed.map((route) => `      ${signs.remove} route ${route}`),
    ];
  });
}
