// Vitest setup: properties use the same seed in every run, so that runs are reproducible. To try other cases:
// `OFFSHOOT_SEED=$RANDOM npm test`.
import { configureGlobal, readConfigureGlobal } from 'fast-check';

configureGlobal({ ...readConfigureGlobal(), seed: Number(process.env['OFFSHOOT_SEED'] ?? 1) });
