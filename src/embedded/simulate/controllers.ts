// Every simulated controller, and how to read the selectors by which some of them are woken.
import type { AnyObject } from '../../kube/objects.ts';
import type { LabelSelector } from '../../kube/selector.ts';
import type { Cluster } from '../rest/context.ts';
import { deploymentController, deployments } from './deployment.ts';
import { kubeletController } from './kubelet.ts';
import type { Controller } from './loop.ts';
import { replicaSetController, replicaSets } from './replicaset.ts';
import { schedulerController } from './scheduler.ts';
import { safeSelector } from './values.ts';
import type { SelectorReader } from './world.ts';

/** The controllers of one cluster. */
export function controllers(_cluster: Cluster): readonly Controller[] {
  return [deploymentController, replicaSetController, schedulerController, kubeletController()];
}

const bySelector: SelectorReader = (object) => safeSelector(specOf(object)['selector'] as LabelSelector | undefined);

function specOf(object: AnyObject): Readonly<Record<string, unknown>> {
  return (object['spec'] ?? {}) as Readonly<Record<string, unknown>>;
}

/** By collection, the selector of an object that looks for pods or replica sets. */
export const selectors: Readonly<Record<string, SelectorReader>> = {
  [deployments]: bySelector,
  [replicaSets]: bySelector,
};
