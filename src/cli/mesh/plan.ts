// `offshoot mesh plan`: shows what the controllers would do for the mesh, and the result, without writing anything.
import { Istio } from '../../api/istio.ts';
import type { Intent } from '../../controller/index.ts';
import { defaultMeshSettings, FIELD_MANAGER, MODULE_NAMESPACE, planMesh, Renderings } from '../../mesh/index.ts';
import type { MeshPlan, MeshSettings, PlannedIstio } from '../../mesh/index.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Step } from '../../kube/write/steps.ts';
import { interruptible } from '../exit.ts';
import { planInput } from '../manifests/intents.ts';
import type { IntentOptions } from '../manifests/intents.ts';
import { ServerAnswers } from '../objects/server-answers.ts';
import { withTables } from '../objects/tables.ts';
import { withConnection } from '../options.ts';
import type { MeshOptions } from '../run/mesh-flags.ts';
import type { Paint } from '../terminal/colour.ts';
import { printPlan } from '../terminal/plan.ts';
import { istioCheck } from './check.ts';
import { restartLines, withoutRestartAnnotations } from './plan-restarts.ts';
import { refuseNamespace } from './namespace.ts';
import { ISTIO } from './nouns.ts';
import { plannedSettings } from './settings.ts';
import type { DataFormat } from '../terminal/output.ts';

export interface MeshPlanOptions extends IntentOptions, MeshOptions {
  readonly output?: DataFormat;
}

const ACCEPTED = { checks: [istioCheck], one: 'an Istio resource' };

/** Prints the plan. Exit code 2 if there are changes, 1 if the mesh would make no progress. */
export function planMeshCommand(options: MeshPlanOptions): Promise<void> {
  if (options.filename === undefined && options.delete === undefined) refuseNamespace(options);
  return withConnection(options, async (connection) => {
    const here = { ...connection, namespace: options.namespace ?? MODULE_NAMESPACE };
    const { intents } = await planInput(undefined, ISTIO, ACCEPTED, options, here);
    const settings = await plannedSettings(connection, options);
    const plan = await interruptible((signal) => plannedMesh(connection.client, intents, settings, signal));
    printMeshPlan(plan, options.output);
  });
}

/** What controllers with these settings would do. */
export function plannedMesh(
  client: Client,
  intents: readonly Intent[],
  settings: Partial<MeshSettings>,
  signal: AbortSignal,
): Promise<MeshPlan> {
  const renderer = new Renderings(settings.renderer ?? defaultMeshSettings.renderer);
  const answers = new ServerAnswers({ client, manager: FIELD_MANAGER, signal });
  const questions = { refuse: (step: Step) => answers.refuse(step), ask: (step: Step) => answers.ask(step) };
  return withTables(client, [Istio], signal, (tables) => {
    const planning = { ...questions, tables, now: Date.now(), intents, settings: { ...settings, renderer } };
    return answers.repeat(() => renderer.repeat(() => planMesh(planning), signal));
  });
}

/** Prints a plan with restarts separate from other changes, and sets the exit code of plan commands. */
export function printMeshPlan(plan: MeshPlan, output: DataFormat | undefined): void {
  const isStalled = plan.stalled.length > 0 || plan.istios.some(({ problem }) => problem !== undefined);
  printPlan(plan, {
    output,
    isStalled,
    shown: plan.changes.flatMap(withoutRestartAnnotations),
    outcome: (made, paint) => [...restartLines(made.restarts), ...outcomeLines(made, paint)],
  });
}

/** The planned state of the mesh. */
function outcomeLines({ istios, reinstalledFor }: MeshPlan, paint: Paint): string[] {
  if (istios.length === 0) return [`There is no Istio resource in namespace ${MODULE_NAMESPACE}.`];
  return [
    ...(reinstalledFor === undefined ? [] : [`Istio would be uninstalled, and installed again for ${reinstalledFor}.`]),
    ...istios.flatMap((istio) => [
      istioLine(istio, paint),
      ...(istio.blockedBy ?? []).map((each) => `    ${each} blocks the deletion: delete it first`),
    ]),
  ];
}

function istioLine({ istio, state, problem, message }: PlannedIstio, paint: Paint): string {
  if (state === 'Gone') return `Istio ${istio} would be gone.`;
  const would = `Istio ${istio} would be ${state}`;
  if (problem !== undefined) return `${paint('bad', '!')} ${would} and make no progress: ${problem}`;
  return message === undefined ? `${would}.` : `${would}: ${message}`;
}
