// The order of test files: the longest begin first, so that in the end no worker is alone with one of them. Vitest itself
// goes by the durations of the last run, and in a new checkout by the sizes of files: a suite of scenarios is a small file.
import { BaseSequencer } from 'vitest/node';

/**
 * Files that take half a minute and more, the longest first. One that is missing here only begins later. Those that keep
 * a mesh under load come second and fourth: they are to run beside those that mostly wait.
 */
export const LONGEST: readonly string[] = [
  'test/mesh-lifecycle/scenarios.test.ts',
  'test/mesh/load.test.ts',
  'test/failover.test.ts',
  'test/mesh/disturbed.test.ts',
  'test/outage.test.ts',
  'test/mesh-lifecycle/crash.test.ts',
  'test/targets.test.ts',
  'test/targets/crash.test.ts',
  'test/environments/crash.test.ts',
  'test/environments.test.ts',
  'test/docs.test.ts',
  'test/mesh-plan.test.ts',
  'test/mesh-restarts/crash.test.ts',
  'test/dashboard-access.test.ts',
  'test/install.test.ts',
  'test/mesh/environments.test.ts',
  'test/routing/crash.test.ts',
  'test/routing.test.ts',
  'test/embedded/kill.test.ts',
  'test/environments/adversity.test.ts',
  'test/differential.test.ts',
  'test/mesh-restarts/reasons.test.ts',
  'test/targets/claim-plan.test.ts',
];

/** Where a file stands among the longest; behind all of them when it is none. */
function rank(file: string): number {
  const at = LONGEST.findIndex((each) => file.endsWith(`/${each}`));
  return at < 0 ? LONGEST.length : at;
}

export default class LongestFirst extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer['sort']>[0]): ReturnType<BaseSequencer['sort']> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a.moduleId) - rank(b.moduleId));
  }
}
