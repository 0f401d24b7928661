// The tests in a real browser. `npm run test:browser` runs them.
import { mergeConfig } from 'vitest/config';
import base from './vitest.config.ts';

const config = mergeConfig(base, { test: { fileParallelism: false, maxWorkers: 1 } });
config.test!.include = ['test/browser/**/*.test.ts'];
config.test!.exclude = [];
export default config;
