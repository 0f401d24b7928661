// The order of test files: the longest start first, so that no worker is left alone with one at the end. Vitest itself
// sorts by the durations of the last run or, in a new checkout, by file size: but a suite of scenarios is a small file.
import { BaseSequencer } from 'vitest/node';

/**
 * Files that take half a minute and more, the longest first. One that is missing here only starts later. Those that put
 * a mesh under load come second and fifth: they run beside suites that mostly wait, and not beside each other.
 */
export const LONGEST: readonly string[] = [
  'test/environments/crash.test.ts',
  'test/mesh/load.test.ts',
  'test/docs.test.ts',
  'test/targets/crash.test.ts',
  'test/mesh/disturbed.test.ts',
  'test/targets.test.ts',
  'test/mesh-lifecycle/crash.test.ts',
  'test/environments.test.ts',
  'test/mesh-lifecycle/scenarios.test.ts',
  'test/mesh-restarts/crash.test.ts',
  'test/mesh-plan.test.ts',
  'test/failover.test.ts',
  'test/outage.test.ts',
  'test/targets/claim-plan.test.ts',
  'test/mesh/model.test.ts',
  'test/dashboard-access.test.ts',
  'test/routing/crash.test.ts',
  'test/mesh-restarts/reasons.test.ts',
  'test/mesh/environments.test.ts',
  'test/install.test.ts',
  'test/embedded/kill.test.ts',
  'test/environments/env-plan.test.ts',
  'test/environments/adversity.test.ts',
  'test/differential.test.ts',
  'src/cli/env/command.test.ts',
];

/** The position of a file among the longest; after all of them if it is not listed. */
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
