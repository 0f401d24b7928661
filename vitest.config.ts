import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import LongestFirst from './test/support/longest-first.ts';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts', 'bench/**/*.test.ts'],
    pool: 'threads',
    isolate: false,
    maxWorkers: Math.max(3, availableParallelism() - 1), // tests mostly wait: for clusters, processes, time
    maxConcurrency: 8, // a file may have fewer, unless a worker begins with it: then all that come after it have no more
    exclude: ['test/node/**', 'test/browser/**', 'test/foreign/**'], // npm run test:node, test:browser, test:foreign
    sequence: { sequencer: LongestFirst },
    setupFiles: ['./test/support/properties.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    env: { OFFSHOOT_TEST_RUN: randomUUID() }, // for what one file leaves for another
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
