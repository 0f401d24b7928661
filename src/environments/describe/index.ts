// What a user is told about environments, as data. The command line prints it, and a dashboard can draw it.
export { deletedWith } from './deletion.ts';
export { formatRequests, parseHeader } from './matches.ts';
export { environmentSteps } from './progress.ts';
export { isCurrent, isFastAsleep, readyCount, stateOf, verdictOf } from './state.ts';
export type { Verdict as EnvironmentVerdict } from './state.ts';
export { describeEnvironment } from './tree.ts';
export type { EnvironmentDescription } from './tree.ts';
export { environmentWorld } from './world.ts';
export { ignoreRulesText } from './gitops.ts';
