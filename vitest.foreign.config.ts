// The test suites of other projects, on the embedded cluster and on the real one. They mostly wait, so three run at a time,
// each on both. `npm run test:foreign` runs them.
import { mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

const config = mergeConfig(base, { test: { maxWorkers: 1, maxConcurrency: 3 } });
config.test!.include = ['test/foreign/**/*.test.ts'];
config.test!.exclude = [];
export default config;
