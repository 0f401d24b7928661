// Keys and fixed names of spaces. All of them are contract.
import type { SpaceRequest } from '../../api/spaces.ts';

const PREFIX = 'toolchain.dev.openshift.com';

/** On a space, and on the Secret of a request: the request. */
export const REQUEST_LABEL = `${PREFIX}/spacerequest`;
export const REQUEST_NAMESPACE_LABEL = `${PREFIX}/spacerequest-namespace`;
/** On the Secret of a request: the namespace that it gives access to. */
export const PROVISIONED_NAMESPACE_LABEL = `${PREFIX}/spacerequest-provisioned-namespace`;
export const PARENT_LABEL = `${PREFIX}/parent-space`;
/** On a namespace and what is in it: the space that it belongs to. */
export const SPACE_LABEL = `${PREFIX}/space`;
/** On a space: `pending` or `cluster-assigned`. */
export const STATE_LABEL = `${PREFIX}/state`;
export const TYPE_LABEL = `${PREFIX}/type`;
export const TEMPLATE_LABEL = `${PREFIX}/templateref`;
export const TIER_LABEL = `${PREFIX}/tier`;
export const PROVIDER_LABEL = `${PREFIX}/provider`;
export const PROVIDER = 'codeready-toolchain';

/** On a space: the hash of the tier that it was last made from. */
export function tierHashLabel(tier: string): string {
  return `${PREFIX}/${tier}-tier-hash`;
}

/** The length of the suffix after the name of a parent: a dash and five characters. */
const SUFFIX_LENGTH = 6;

/**
 * The name of the space for a request: the name of its parent and the beginning of the request's uid. If the parent is
 * itself a sub-space, its suffix is replaced, so that names do not grow.
 */
export function subspaceName(
  parent: { readonly name: string; readonly isSubspace: boolean },
  request: SpaceRequest,
  uidLength = SUFFIX_LENGTH - 1,
): string {
  const { name, isSubspace } = parent;
  const prefix = isSubspace && name.length > SUFFIX_LENGTH ? name.slice(0, -SUFFIX_LENGTH) : name;
  return `${prefix}-${(request.metadata.uid ?? '').slice(0, uidLength)}`;
}
