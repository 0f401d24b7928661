// The controllers of the claim system, running on an API in memory until the test is over.
import { onTestFinished } from 'vitest';
import type { ControllerDefinition } from '../../src/controller/index.ts';
import { targets } from '../../src/targets/index.ts';
import type { Settings } from '../../src/targets/index.ts';
import { ClaimWorld } from './claims.ts';

/** A world with some of the controllers; with the binder and the reclaimer if none are named. */
export function running(settings: Partial<Settings> = {}, names = ['binder', 'reclaimer']): ClaimWorld {
  return started(targets(settings).filter(({ name }) => names.includes(name)));
}

/** A world with all of the controllers but those of spaces: whoever tests says what requests come to. */
export function runningWithoutSpaces(settings: Partial<Settings> = {}): ClaimWorld {
  return started(targets({ ...settings, spaceControllers: false }));
}

function started(controllers: readonly ControllerDefinition[]): ClaimWorld {
  const world = new ClaimWorld(controllers);
  onTestFinished(() => world.stop());
  return world;
}
