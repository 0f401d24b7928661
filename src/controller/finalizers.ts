// The finalizers by which a controller keeps its objects until it has cleaned up after them.
import { edit } from '../kube/write/steps.ts';
import type { Step } from '../kube/write/steps.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { ControllerDefinition } from './definition.ts';

type Finalizing = Pick<ControllerDefinition, 'kind' | 'finalizers'>;

/** Whether an object is on its way out and no longer held by the controller: there is nothing left to do for it. */
export function isReleased({ finalizers = [] }: Finalizing, object: KubeObject): boolean {
  return isDeleting(object) && finalizers.length > 0 && !finalizers.some((name) => namesOn(object).includes(name));
}

/** Puts on the finalizers that an object lacks; undefined if it has them all, or is being deleted. */
export function addFinalizers({ kind, finalizers = [] }: Finalizing, object: KubeObject): Step | undefined {
  const missing = finalizers.filter((name) => !namesOn(object).includes(name));
  if (missing.length === 0 || isDeleting(object)) return undefined;
  return edit(kind, object, withFinalizers(object, [...namesOn(object), ...missing]));
}

/** Takes the controller's finalizers off. */
export function removeFinalizers({ kind, finalizers = [] }: Finalizing, object: KubeObject): Step {
  const others = namesOn(object).filter((name) => !finalizers.includes(name));
  return edit(kind, object, withFinalizers(object, others));
}

function isDeleting(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

function namesOn(object: KubeObject): readonly string[] {
  return object.metadata.finalizers ?? [];
}

function withFinalizers(object: KubeObject, finalizers: readonly string[]): KubeObject {
  return { ...object, metadata: { ...object.metadata, finalizers } };
}
