// Recognizes the creation of a pod, which limit ranges, service accounts and priority classes apply to.
import type { AnyObject } from '../../kube/objects.ts';
import type { AdmissionRequest } from '../rest/context.ts';

export interface NewPodRequest extends AdmissionRequest {
  readonly object: AnyObject;
}

/** True for the creation of a pod, but not of its subresources, such as an eviction. */
export function createsPod(request: AdmissionRequest): request is NewPodRequest {
  const { resource, subresource } = request.target;
  const isPod = resource.group === '' && resource.plural === 'pods' && subresource === '';
  return isPod && request.operation === 'CREATE' && request.object !== undefined;
}
