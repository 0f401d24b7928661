// Environments: the controller for DynamicEnv, and its plan for whoever wants to see it without a cluster.
import { DynamicEnv } from '../api/dynamicenv.ts';
import { defineController } from '../controller/index.ts';
import type { ControllerDefinition } from '../controller/index.ts';
import { environmentGauges } from './gauges.ts';
import { CONTROLLER, FINALIZERS } from './names.ts';
import { orphanChore } from './orphan-chore.ts';
import { planEnvironment } from './plan.ts';
import { defaultSettings } from './settings.ts';
import type { Settings } from './settings.ts';
import { environmentTables } from './tables.ts';

/** The controller for environments. */
export function environments(settings: Partial<Settings> = {}): ControllerDefinition {
  const all = { ...defaultSettings, ...settings };
  return defineController<DynamicEnv>({
    name: CONTROLLER,
    kind: DynamicEnv,
    finalizers: FINALIZERS,
    reads: environmentTables(all),
    gauges: environmentGauges(all),
    chores: [orphanChore(all)],
    plan: (view, env) => planEnvironment(view, env, all),
  });
}

export * from './describe/index.ts';
export { CONTROLLER, itemsOf, uniqueVersion } from './names.ts';
export { Deployment } from './objects.ts';
export { baseProblem } from './ownership.ts';
export { planEnvironment } from './plan.ts';
export { defaultSettings } from './settings.ts';
export type { Settings } from './settings.ts';
export { environmentTables } from './tables.ts';
export { validateCreate, validateUpdate } from './validate.ts';
export type { Facts, Place, Verdict } from './validate.ts';
export { environmentAdmission, WEBHOOK_CONFIGURATION, WEBHOOK_PATH, webhookConfiguration } from './webhook.ts';
