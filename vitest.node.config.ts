// The tests on the real node: one after the other, because they share it. `npm run test:node` runs them.
import { mergeConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';
import base from './vitest.config.ts';

/** Those that share a node, last: the quick start begins on one without Offshoot, and the others leave it there. */
const SHARING = ['quick-start', 'offshoot', 'traffic'];

class SharingLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number =>
      SHARING.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
    return files.toSorted((a, b) => rank(a) - rank(b));
  }
}

const config = mergeConfig(base, {
  test: { fileParallelism: false, maxWorkers: 1, testTimeout: 120_000, sequence: { sequencer: SharingLast } },
});
config.test!.include = ['test/node/**/*.test.ts'];
config.test!.exclude = [];
export default config;
