// Targets: the controllers that bind claims, provision targets for them and reclaim those, one duty each.
import type { ControllerDefinition } from '../controller/index.ts';
import { binder } from './binding/binder.ts';
import { devsandboxRequest } from './devsandbox/request.ts';
import { devsandboxTarget } from './devsandbox/target.ts';
import { environmentController } from './environment/environment.ts';
import { managedEnvironments } from './environment/managed-environments.ts';
import { namespaceTargets } from './namespaces/target.ts';
import { warmNamespaces } from './namespaces/warm.ts';
import { namespaceRelease } from './namespaces/release.ts';
import { namespaceSecrets } from './namespaces/secrets.ts';
import { namespaceRequests } from './namespaces/request.ts';
import { reclaimer } from './reclaim/reclaimer.ts';
import { defaultSettings } from './settings.ts';
import type { Settings } from './settings.ts';
import { spaceCleanup } from './spaces/cleanup.ts';
import { spaceCompletion } from './spaces/completion.ts';
import { spaceRequests } from './spaces/space-request.ts';
import { spaces } from './spaces/space.ts';

/** All controllers of the claim system. */
export function targets(settings: Partial<Settings> = {}): ControllerDefinition[] {
  const all = { ...defaultSettings, ...settings };
  return [
    binder(all),
    reclaimer(),
    devsandboxRequest(),
    devsandboxTarget(all),
    ...(all.spaceControllers ? [spaceRequests(all), spaces(all), spaceCompletion(all), spaceCleanup(all)] : []),
    namespaceRequests(),
    namespaceTargets(all),
    namespaceRelease(),
    warmNamespaces(),
    namespaceSecrets(),
    environmentController(all),
    managedEnvironments(),
  ];
}

export { targetTables } from './tables.ts';
export {
  targetsAdmission,
  TARGETS_WEBHOOK_CONFIGURATION,
  TARGETS_WEBHOOK_PATHS,
  targetsWebhookConfiguration,
} from './admission/webhook.ts';
export { problemsOf as admissionProblems } from './admission/index.ts';
export { claimNameOf } from './claim-ref.ts';
export * from './describe/index.ts';
export { EXPIRES_AT, PROVISIONED_BY, REQUESTED_NAMESPACE, SELECTOR } from './names.ts';
export { Secret } from './objects.ts';
export { planClaims } from './plan/claim-plan.ts';
export type { ClaimPlan, PlannedClaim } from './plan/claim-plan.ts';
export { issuedAddress } from './plan/issued-address.ts';
export { defaultSettings } from './settings.ts';
export type { Cluster, Settings } from './settings.ts';
