// The controllers of the claim system, running on an API in memory until the test is over.
import { onTestFinished } from 'vitest';
import { ClaimWorld } from './claims.ts';
import { targets } from '../../src/targets/index.ts';
import type { Settings } from '../../src/targets/index.ts';

/** A world with some of the controllers; with the binder and the reclaimer if none are named. */
export function running(settings: Partial<Settings> = {}, names = ['binder', 'reclaimer']): ClaimWorld {
  const world = new ClaimWorld(targets(settings).filter(({ name }) => names.includes(name)));
  onTestFinished(() => world.stop());
  return world;
}
