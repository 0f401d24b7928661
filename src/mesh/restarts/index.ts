// Restarts of workloads and gateways, for the rest of the mesh part.
export { meshRestarts } from './controller.ts';
export type { Restarts } from './controller.ts';
export { isRestartingOver, isUnfinished, restartSteps, restartSummary } from './describe.ts';
export type { LotProgress, RestartProgress } from './progress.ts';
