// Descriptions of environments, as data. The command line prints them, and the dashboard draws them.
export { deletedWith } from './deletion.ts';
export { adviceFor } from './advice.ts';
export { ISOLATION, isolationOf, isolationProblem, isolationText } from './isolation.ts';
export { formatMatches, formatRequests, parseHeader } from './matches.ts';
export { environmentSteps, sleepingSteps } from './progress.ts';
export {
  deletionReport,
  isCurrent,
  isFastAsleep,
  problemOf,
  readyCount,
  reasonOf,
  stateOf,
  verdictOf,
  whyUnrouted,
} from './state.ts';
export type { Verdict as EnvironmentVerdict } from './state.ts';
export { withExceptions } from './taken.ts';
export { describeEnvironment } from './tree.ts';
export type { EnvironmentDescription } from './tree.ts';
export { environmentWorld } from './world.ts';
export { ignoreRulesText } from './gitops.ts';
