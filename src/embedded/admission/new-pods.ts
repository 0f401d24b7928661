// Whether a write makes a pod: what limit ranges, service accounts and priority classes have a say in.
import type { AnyObject } from '../../kube/objects.ts';
import type { AdmissionRequest } from '../rest/context.ts';

export interface NewPodRequest extends AdmissionRequest {
  readonly object: AnyObject;
}

/** True for the creation of a pod, and not for what is created on one, such as an eviction. */
export function makesPod(request: AdmissionRequest): request is NewPodRequest {
  const { resource, subresource } = request.target;
  const isPod = resource.group === '' && resource.plural === 'pods' && subresource === '';
  return isPod && request.operation === 'CREATE' && request.object !== undefined;
}
