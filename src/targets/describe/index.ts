// Descriptions of claims and targets, as data. The command line prints them, and the dashboard draws them.
export { claimDeletion, isDeletionReported } from './deletion.ts';
export { claimSteps } from './progress.ts';
export type { ClaimProgress } from './progress.ts';
export { progressSources } from './progress-sources.ts';
export type { ProgressSource } from './progress-sources.ts';
export { brokenOf, phaseOf, problemOf, verdictOf, warningsOf } from './state.ts';
export type { ClaimVerdict } from './state.ts';
export { describeClaim, describeTarget } from './tree.ts';
export { claimWorld, targetOf, targetWorld } from './world.ts';
