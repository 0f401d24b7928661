// The Istio lifecycle: install, upgrade, restart, uninstall.
export { mesh } from './mesh.ts';
export { condition, manualRestartRequired } from './status/conditions.ts';
export type { Reason } from './status/conditions.ts';
export { blockedBy, blockedMessage, BLOCKING_KINDS, blockingResources } from './deletion/blocking.ts';
export { UNINSTALLED_KINDS, uninstallStep } from './deletion/uninstall.ts';
export type { Remains, UninstallStep } from './deletion/uninstall.ts';
export { describeMesh, stateOf, versionLines } from './describe/tree.ts';
export type { MeshDescription, MeshVersions } from './describe/tree.ts';
export { meshWorld } from './describe/world.ts';
export type { MeshWorld } from './describe/world.ts';
export { worstOf } from './status/failures.ts';
export type { Failure } from './status/failures.ts';
export { builtinRenderer } from './installation/render/builtin/builtin.ts';
export {
  apiServerPort,
  COMPANIONS,
  featuresOf,
  isDualStack,
  loadBalancerFacts,
  statusPort,
} from './installation/operator/companions.ts';
export { meshGauges } from './gauges.ts';
export { byComponent, componentOf, COMPONENTS, componentSteps } from './installation/components.ts';
export type { ComponentName, ComponentSteps } from './installation/components.ts';
export { desiredOperator } from './installation/operator/desired.ts';
export type { InstallationFacts } from './installation/operator/desired.ts';
export { clusterFlavour, needsProxyProtocol } from './installation/operator/flavour.ts';
export { foundation } from './installation/foundation.ts';
export { istioctlRenderer } from './installation/render/istioctl.ts';
export { COMPATIBILITY_CHANGES_SIDECARS, MergeError } from './installation/operator/merge.ts';
export { proxyResources } from './installation/operator/merge-components.ts';
export type { IstioOperator } from './installation/operator/operator.ts';
export { leftOver, owned } from './installation/ownership.ts';
export { notReady } from './installation/readiness.ts';
export { renderedManifests } from './installation/render/rendered.ts';
export type { Rendered } from './installation/render/rendered.ts';
export { RenderError } from './installation/render/renderer.ts';
export type { Renderer } from './installation/render/renderer.ts';
export { clusterSize } from './installation/operator/size.ts';
export type { ClusterSize, Node } from './installation/operator/size.ts';
export { conflictingTags } from './installation/tag-webhooks.ts';
export { istioTag, readLastApplied, withApplied, writeLastApplied } from './custom-resource/last-applied.ts';
export type { LastApplied } from './custom-resource/last-applied.ts';
export { MESH, meshModels, readMesh } from './models.ts';
export type { MeshModels } from './models.ts';
export * from './names.ts';
export { userFilterWarning } from './resources/envoy-filters.ts';
export { meshResources, withUpdatedAt } from './resources/resources.ts';
export type { ResourceFacts, Resources } from './resources/resources.ts';
export { isRestartingOver, isUnfinished, meshRestarts, restartSteps, restartSummary } from './restarts/index.ts';
export { injectsSidecars, MutatingWebhook } from './restarts/injection.ts';
export type { LotProgress, RestartProgress, Restarts } from './restarts/index.ts';
export { planMesh } from './plan/mesh-plan.ts';
export type { MeshPlan, MeshPlanOptions, PlannedIstio } from './plan/mesh-plan.ts';
export type { PlannedBatch, PlannedRestart, PlannedRestarts } from './plan/restarts.ts';
export { planUpgrade } from './plan/upgrade.ts';
export type { Upgrade } from './plan/upgrade.ts';
export { Renderings } from './plan/renderings.ts';
export type { DisruptionBudget } from './restarts/budgets.ts';
export {
  gatewayHash,
  gatewayPredicate,
  removalHash,
  sidecarHash,
  sidecarPredicate,
  sidecarState,
} from './restarts/desired-state.ts';
export type { GatewayState, SidecarState } from './restarts/desired-state.ts';
export { withRestart, lastRestart, podToDelete } from './restarts/restart-annotations.ts';
export { outdatedWorkloads } from './restarts/outdated.ts';
export type { ManualRestart, Outdated, OutdatedWorkload } from './restarts/outdated.ts';
export { workloadKey, workloadRef } from './restarts/owners.ts';
export type { WorkloadRef } from './restarts/owners.ts';
export { planRestarts } from './restarts/plan.ts';
export type { PendingWorkload, RestartFacts, RestartPlan } from './restarts/plan.ts';
export type { RestartPredicate } from './restarts/predicate.ts';
export { sidecarOfNoMesh, withoutSidecar } from './restarts/sidecars.ts';
export { parseWindow } from './restarts/window.ts';
export type { MaintenanceWindow } from './restarts/window.ts';
export { rolloutOf } from './workloads/rollout.ts';
export { whyInactive, activeIstio } from './custom-resource/active-istio.ts';
export { defaultMeshSettings } from './settings.ts';
export type { MeshSettings } from './settings.ts';
export { meshStatus } from './status/status.ts';
export type { StatusFacts } from './status/status.ts';
export { invalidSpec, specProblems } from './custom-resource/validate.ts';
export type { Pod, Workload } from './workloads/workloads.ts';
export { versionGate } from './version/gate.ts';
export { istiodTags, runningVersion, versionMismatch } from './version/running.ts';
