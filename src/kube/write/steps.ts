// The steps of a plan. Plain data: apply.ts carries them out, the command line prints them.
import { jsonEqual } from '../../watchable/index.ts';
import { withAnnotations } from '../annotations.ts';
import type { AnnotationChanges } from '../annotations.ts';
import { createMergePatch } from './merge-patch.ts';
import { keyOf } from '../objects.ts';
import type { AnyKind, Kind, KubeObject, Ref } from '../objects.ts';

/** An object of ours: it should have these fields. Written by server-side apply, so an omitted field is removed. */
export interface Own {
  readonly do: 'own';
  readonly kind: AnyKind;
  readonly object: KubeObject;
  /** If another program created the object and set this annotation, we take over all fields that it set. */
  readonly takeOverAnnotation?: string;
}

/** An object that should exist and then belongs to others: created if it does not exist, never written again. */
export interface Make {
  readonly do: 'make';
  readonly kind: AnyKind;
  readonly object: KubeObject;
}

/**
 * A change to an object that others own: from what was observed to what it should be. Refused by the server if the
 * object is no longer the one that was observed. With `subresource`, only that part is written.
 */
export interface Edit {
  readonly do: 'edit';
  readonly kind: AnyKind;
  readonly from: KubeObject;
  readonly to: KubeObject;
  readonly subresource?: 'status';
}

/** An object to delete: the one that was observed, not another of the same name. */
export interface Remove {
  readonly do: 'remove';
  readonly kind: AnyKind;
  readonly object: KubeObject;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  /** Fail if anybody has changed it since it was observed. */
  readonly unchanged?: boolean;
}

/** A Secret of ours with a kubeconfig for a service account, whose token is requested when the step is carried out. */
export interface Token {
  readonly do: 'token';
  readonly kind: AnyKind;
  /** The Secret without its data. */
  readonly object: KubeObject;
  /** Its namespace is also that of the kubeconfig. */
  readonly serviceAccount: Ref;
  /** The server may grant less. */
  readonly expirationSeconds: number;
  readonly cluster: ClusterAddress;
}

/** How the users of a kubeconfig reach the API server. */
export interface ClusterAddress {
  readonly server: string;
  readonly caPem?: string;
  readonly insecureSkipTlsVerify?: boolean;
}

export type Step = Own | Make | Edit | Remove | Token;

/** The object that a step is about; of an edit, as it should be. */
export function objectOf(step: Step): KubeObject {
  return step.do === 'edit' ? step.to : step.object;
}

/** Makes an `own` step. */
export function own<T extends KubeObject>(
  kind: Kind<T>,
  object: T,
  options: Pick<Own, 'takeOverAnnotation'> = {},
): Own {
  return { do: 'own', kind, object, ...options };
}

/** Makes a `make` step. */
export function make<T extends KubeObject>(kind: Kind<T>, object: T): Make {
  return { do: 'make', kind, object };
}

/** Makes an `edit` step. */
export function edit<T extends KubeObject>(kind: Kind<T>, from: T, to: T): Edit {
  return { do: 'edit', kind, from, to };
}

/** Makes an `edit` step for some annotations of an object; `undefined` removes one. */
export function annotate<T extends KubeObject>(kind: Kind<T>, from: T, changes: AnnotationChanges): Edit {
  return edit(kind, from, withAnnotations(from, changes));
}

/** Makes an `edit` step for the status of an object. */
export function editStatus<T extends KubeObject>(kind: Kind<T>, from: T, status: unknown): Edit {
  const to: KubeObject & { status: unknown } = { ...from, status };
  return { do: 'edit', kind, from, to, subresource: 'status' };
}

/** Makes a `remove` step. */
export function remove<T extends KubeObject>(kind: Kind<T>, object: T, propagation?: Remove['propagation']): Remove {
  return { do: 'remove', kind, object, ...(propagation && { propagation }) };
}

/** Makes a `remove` step that fails if the object has changed since. */
export function removeUnchanged<T extends KubeObject>(kind: Kind<T>, object: T): Remove {
  return { do: 'remove', kind, object, unchanged: true };
}

/** Makes a `token` step. */
export function token<T extends KubeObject>(
  kind: Kind<T>,
  object: T,
  access: Omit<Token, 'do' | 'kind' | 'object'>,
): Token {
  return { do: 'token', kind, object, ...access };
}

/** The merge patch of an edit: of a status edit only its status, otherwise everything that differs. */
export function editPatch(step: Edit): Readonly<Record<string, unknown>> | undefined {
  const part = (object: KubeObject): Readonly<Record<string, unknown>> => {
    if (step.subresource)
      return { [step.subresource]: (object as KubeObject & Record<string, unknown>)[step.subresource] };
    return object as KubeObject & Record<string, unknown>;
  };
  return createMergePatch(part(step.from), part(step.to), jsonEqual);
}

/** `Deployment team/web`, for messages. */
export function describe(step: Step): string {
  return `${step.kind.kind} ${keyOf(objectOf(step).metadata)}`;
}
