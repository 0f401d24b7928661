// Finalizers keep an object until its controller has cleaned up after it.
import { edit } from '../kube/write/steps.ts';
import type { Step } from '../kube/write/steps.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { ControllerDefinition } from './definition.ts';

type Finalizing = Pick<ControllerDefinition, 'kind' | 'finalizers'>;

/** Whether an object is being deleted and has no finalizer of the controller: there is nothing left to do for it. */
export function isReleased({ finalizers = [] }: Finalizing, object: KubeObject): boolean {
  return isDeleting(object) && finalizers.length > 0 && !finalizers.some((name) => finalizersOf(object).includes(name));
}

/** Adds the missing finalizers to an object; undefined if it has them all, or is being deleted. */
export function addFinalizers({ kind, finalizers = [] }: Finalizing, object: KubeObject): Step | undefined {
  const missing = finalizers.filter((name) => !finalizersOf(object).includes(name));
  if (missing.length === 0 || isDeleting(object)) return undefined;
  return edit(kind, object, withFinalizers(object, [...finalizersOf(object), ...missing]));
}

/** Removes the controller's finalizers. */
export function removeFinalizers({ kind, finalizers = [] }: Finalizing, object: KubeObject): Step {
  const others = finalizersOf(object).filter((name) => !finalizers.includes(name));
  return edit(kind, object, withFinalizers(object, others));
}

function isDeleting(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

function finalizersOf(object: KubeObject): readonly string[] {
  return object.metadata.finalizers ?? [];
}

function withFinalizers(object: KubeObject, finalizers: readonly string[]): KubeObject {
  return { ...object, metadata: { ...object.metadata, finalizers } };
}
