// Who decides over certificate signing requests: approving and signing take a right over the signer that is asked for,
// beside the right to write the subresource. Asked by admission.
import type { AnyObject, JsonObject } from '../../kube/objects.ts';
import { sameJson } from '../patch/json.ts';
import type { Target, UserInfo } from '../rest/context.ts';
import { forbidden } from '../rest/fault.ts';
import { part } from '../rest/rules/types.ts';
import type { Rbac } from './rbac.ts';

const group = 'certificates.k8s.io';
const verbs: Readonly<Record<string, string>> = { approval: 'approve', status: 'sign' };

/** Throws a Fault when the user may not decide for the signer of the request. */
export function refuseSigning(
  rbac: Rbac,
  user: UserInfo,
  { resource, subresource, name }: Target,
  next: AnyObject,
  old: AnyObject | undefined,
): void {
  const verb = verbs[subresource];
  const isRequest = resource.group === group && resource.plural === 'certificatesigningrequests';
  if (!isRequest || verb === undefined || old === undefined) return;
  if (verb === 'sign' && sameJson(signed(next), signed(old))) return;
  const signer = String(part(old, 'spec')['signerName']);
  // All signers of a domain can be granted as one.
  const names = [signer, `${signer.split('/')[0]}/*`];
  const wanted = { verb, group, resource: 'signers', subresource: '', namespace: '' };
  if (names.some((each) => rbac.allows(user, { ...wanted, name: each }))) return;
  throw forbidden(resource, name, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`);
}

function signed(object: AnyObject): JsonObject {
  const { certificate, conditions = [] } = part(object, 'status');
  return { certificate, conditions };
}
