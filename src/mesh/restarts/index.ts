// Restarts of workloads and gateways.
export { meshRestarts } from './controller.ts';
export type { Restarts } from './controller.ts';
export { isRestartingOver, isUnfinished, restartSteps, restartSummary } from './describe.ts';
export type { LotProgress, RestartProgress } from './progress.ts';
