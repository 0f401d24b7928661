// Reasons and messages for writes that the server refused to the controllers of spaces. They are contract.
import { Space } from '../../api/spaces.ts';
import type { SpaceRequest } from '../../api/spaces.ts';
import type { Failure } from '../../controller/index.ts';
import { TOOLCHAIN_FINALIZER } from '../names.ts';
import { Secret } from '../objects.ts';
import type { Readiness } from './conditions.ts';

/** The readiness of a space request after a failed write. */
export function requestFailure({ metadata }: SpaceRequest, { step, cause }: Failure): Readiness {
  const { deletionTimestamp, finalizers = [] } = metadata;
  if (deletionTimestamp !== undefined) {
    const what = step?.kind === Space ? 'unable to delete subspace' : 'failed to remove finalizer';
    return { reason: 'UnableToTerminate', message: `${what}: ${cause}` };
  }
  return { reason: 'UnableToProvision', message: `${what()}${cause}` };

  function what(): string {
    if (!finalizers.includes(TOOLCHAIN_FINALIZER)) return 'error while adding finalizer: ';
    if (step?.kind === Secret) return 'error while creating secret: ';
    if (step?.kind !== Space) return '';
    return step.do === 'make' ? 'unable to create subSpace: ' : 'unable to update tiername and targetclusterroles: ';
  }
}

/** The readiness of a space after a failed write. */
export function spaceFailure({ metadata, spec, status }: Space, { message }: Failure): Readiness {
  const current = status?.targetCluster ?? '';
  if (metadata.deletionTimestamp !== undefined) return { reason: 'UnableToTerminate', message };
  if (current !== '' && current !== (spec.targetCluster ?? '')) return { reason: 'UnableToRetarget', message };
  const wasMade = (status?.provisionedNamespaces ?? []).length > 0;
  return { reason: wasMade ? 'UnableToUpdateNSTemplateSet' : 'UnableToCreateNSTemplateSet', message };
}
