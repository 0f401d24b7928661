// The controllers of claims, running on an API in memory until the test ends.
import { expect, onTestFinished } from 'vitest';
import { DeploymentTarget, DeploymentTargetClaim } from '../../src/api/targets.ts';
import type { ControllerDefinition } from '../../src/controller/index.ts';
import { targets } from '../../src/targets/index.ts';
import type { Settings } from '../../src/targets/index.ts';
import { Namespace, Secret } from '../../src/targets/objects.ts';
import { claim, ClaimWorld, target, targetClass } from './claims.ts';

/** A world with some of the controllers; by default the binder and the reclaimer. */
export function running(settings: Partial<Settings> = {}, names = ['binder', 'reclaimer']): ClaimWorld {
  return started(targets(settings).filter(({ name }) => names.includes(name)));
}

/** A world with all controllers but those of spaces: the test itself writes the status of space requests. */
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

/** A world with a claim that is bound to its target. */
export async function bound(policy: 'Delete' | 'Retain' = 'Retain', spec = {}, meta = {}): Promise<ClaimWorld> {
  const w = await running().have(targetClass(policy), target(), claim('test-dtc', spec, meta));
  await w.settle();
  expect(phases(w)).toEqual(['Bound', 'Bound']);
  return w;
}

/** A world with a claim that is bound to a namespace of the cluster. */
export async function boundToNamespace(policy: 'Delete' | 'Retain'): Promise<ClaimWorld> {
  const w = await runningWithoutSpaces().have(targetClass(policy, 'room', 'offshoot.dev/namespace'));
  await w.have(claim('test-dtc', { deploymentTargetClassName: 'room' }));
  await w.settle();
  expect(dtc(w)?.status?.phase).toBe('Bound');
  return w;
}

/** How many targets, namespaces and Secrets are left. */
export const objectsLeft = (w: ClaimWorld) => [DeploymentTarget, Namespace, Secret].map((kind) => w.api.all(kind).size);
