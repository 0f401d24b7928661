// Environments: the controllers for DynamicEnv, and their plans for use without a cluster.
import { DynamicEnv } from '../api/dynamicenv.ts';
import { defineController } from '../controller/index.ts';
import type { ControllerDefinition } from '../controller/index.ts';
import { environmentGauges } from './metrics/gauges.ts';
import { timeToReady } from './metrics/time-to-ready.ts';
import { VirtualService } from '../traffic/istio/objects.ts';
import { CONTROLLER, FIELD_MANAGER, FINALIZERS } from './names.ts';
import { orphanChore } from './orphans/orphan-chore.ts';
import { planEnvironment } from './plan.ts';
import { planVirtualService } from './routes/plan.ts';
import { forgetRefusals, routeRefusals } from './routes/refusals.ts';
import { routeWishes } from './routes/wishes.ts';
import { PACE_MS, writeRoutes } from './routes/write.ts';
import { defaultSettings } from './settings.ts';
import type { Settings } from './settings.ts';

/** The controllers for environments: one makes them, the other writes their routes to VirtualServices. */
export function environments(settings: Partial<Settings> = {}): readonly ControllerDefinition[] {
  const all = { ...defaultSettings, ...settings };
  const maps = { wishes: routeWishes(all), refusals: routeRefusals() };
  return [
    defineController<DynamicEnv>({
      name: CONTROLLER,
      kind: DynamicEnv,
      finalizers: FINALIZERS,
      gauges: environmentGauges(all),
      timings: [timeToReady],
      chores: [orphanChore(all)],
      plan: (view, env) => planEnvironment(view, env, all, maps.refusals),
    }),
    defineController<VirtualService>({
      name: 'environment-routes',
      fieldManager: FIELD_MANAGER,
      kind: VirtualService,
      ownsStatus: false,
      paceMs: PACE_MS,
      chores: [forgetRefusals(maps.refusals)],
      plan: (view, service) => planVirtualService(view, service, maps, all),
      write: (steps, notes) => writeRoutes(steps, notes, maps.refusals),
    }),
  ];
}

export * from './describe/index.ts';
export { confirmed, diagnose, doctorTables, hasOrphans } from './doctor/doctor.ts';
export type { DiagnoseOptions, Diagnosis } from './doctor/doctor.ts';
export type { Finding } from './doctor/finding.ts';
export { planEnvironments } from './forecast/plan-environments.ts';
export type {
  EnvironmentPlan,
  EnvironmentPlanOptions,
  PlannedEnvironment,
  PlannedOrphan,
} from './forecast/plan-environments.ts';
export { ASLEEP, isAsleep } from './lifecycle/sleep.ts';
export { EXTENDED_UNTIL, lifetimeOf, MAX_TTL_MS } from './lifecycle/ttl.ts';
export { CONTROLLER, itemsOf, uniqueVersion } from './names.ts';
export { Deployment } from './objects.ts';
export { imageProblem, variableNameProblem } from './admission/overrides.ts';
export { baseProblem, environmentOfClone } from './identity/ownership.ts';
export { planEnvironment } from './plan.ts';
export { proofData, proofLines } from './proofs/proof-data.ts';
export type { ProofData } from './proofs/proof-data.ts';
export { proveEnvironment } from './proofs/prove-environment.ts';
export { planVirtualService } from './routes/plan.ts';
export { routeRefusals } from './routes/refusals.ts';
export { routeWishes } from './routes/wishes.ts';
export { writeRoutes } from './routes/write.ts';
export { defaultSettings } from './settings.ts';
export type { Settings } from './settings.ts';
export { environmentTables } from './tables.ts';
export { validateCreate, validateUpdate } from './admission/validate.ts';
export type { FieldPath } from './admission/placed-items.ts';
export type { Facts, Verdict } from './admission/validate.ts';
export {
  environmentAdmission,
  WEBHOOK_CONFIGURATION,
  WEBHOOK_PATH,
  webhookConfiguration,
} from './admission/webhook.ts';
