// Messages for a space or namespace that was deleted by hand and is not recreated. The API has no reason for that: the
// message distinguishes it from other failures, which may be temporary.
import type { SpaceRequest } from '../../api/spaces.ts';
import { readyOf } from './conditions.ts';

const NAMESPACE_DELETED = 'was deleted, with all that was in it';
export const SUBSPACE_DELETED = 'the subSpace was deleted, with its namespaces and all that was in them';

export function namespaceDeleted(name: string): string {
  return `namespace ${name} ${NAMESPACE_DELETED}`;
}

/** Whether a request says that its space, or a namespace of it, was deleted. */
export function isSpaceDeleted(request: SpaceRequest): boolean {
  const { status, reason, message = '' } = readyOf(request) ?? {};
  if (status === 'True' || reason !== 'UnableToProvision') return false;
  return message === SUBSPACE_DELETED || message.endsWith(NAMESPACE_DELETED);
}
