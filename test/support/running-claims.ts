// The controllers of the claim system, running on an API in memory until the test is over.
import { expect, onTestFinished } from 'vitest';
import { DeploymentTarget, DeploymentTargetClaim } from '../../src/api/targets.ts';
import type { ControllerDefinition } from '../../src/controller/index.ts';
import { targets } from '../../src/targets/index.ts';
import type { Settings } from '../../src/targets/index.ts';
import { claim, ClaimWorld, target, targetClass } from './claims.ts';

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

export const dtc = (w: ClaimWorld, name = 'test-dtc') => w.get(DeploymentTargetClaim, name);
export const dt = (w: ClaimWorld, name = 'test-dt') => w.get(DeploymentTarget, name);
export const phases = (w: ClaimWorld) => [dtc(w)?.status?.phase, dt(w)?.status?.phase];

/** A condition of the claim. */
export const conditionOf = (w: ClaimWorld, type: string) =>
  dtc(w)?.status?.conditions?.find((each) => each.type === type);

/** A world with a claim and its target. */
export async function bound(policy: 'Delete' | 'Retain' = 'Retain', spec = {}, meta = {}): Promise<ClaimWorld> {
  const w = await running().have(targetClass(policy), target(), claim('test-dtc', spec, meta));
  await w.settle();
  expect(phases(w)).toEqual(['Bound', 'Bound']);
  return w;
}
