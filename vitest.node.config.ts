// The tests on the real node: one after the other, because they share it. `npm run test:node` runs them.
import { mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

const config = mergeConfig(base, { test: { fileParallelism: false, maxWorkers: 1, testTimeout: 120_000 } });
config.test!.include = ['test/node/**/*.test.ts'];
config.test!.exclude = [];
export default config;
