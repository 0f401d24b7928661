// Vitest setup: properties try the same cases in every run, so that a run says the same twice. To look further, give
// another seed: `OFFSHOOT_SEED=$RANDOM npm test`.
import { configureGlobal, readConfigureGlobal } from 'fast-check';

configureGlobal({ ...readConfigureGlobal(), seed: Number(process.env['OFFSHOOT_SEED'] ?? 1) });
