// How a space request names its target: by a label, which is contract, or by an annotation if the name is too long for a
// label.
import { withAnnotations } from '../kube/index.ts';
import type { SpaceRequest } from '../api/spaces.ts';
import { fitsLabel, OF_TARGET, TARGET_LABEL } from './names.ts';

/** The name of the target that a request was given. */
export function targetNameOn({ metadata }: SpaceRequest): string | undefined {
  return metadata.labels?.[TARGET_LABEL] ?? metadata.annotations?.[OF_TARGET];
}

/** The request with the name of its target. */
export function withTargetName(request: SpaceRequest, name: string): SpaceRequest {
  if (!fitsLabel(name)) return withAnnotations(request, { [OF_TARGET]: name });
  const { metadata } = request;
  return { ...request, metadata: { ...metadata, labels: { ...metadata.labels, [TARGET_LABEL]: name } } };
}
