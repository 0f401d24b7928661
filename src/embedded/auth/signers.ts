// Approving and signing a CertificateSigningRequest requires a permission for its signer, in addition to the permission
// to write the subresource. Called by admission.
import type { AnyObject, JsonObject } from '../../kube/objects.ts';
import { sameJson } from '../patch/json.ts';
import type { Target, UserInfo } from '../rest/context.ts';
import { forbidden } from '../rest/fault.ts';
import { part } from '../rest/rules/types.ts';
import type { Rbac } from './rbac.ts';

const group = 'certificates.k8s.io';
const verbs: Readonly<Record<string, string>> = { approval: 'approve', status: 'sign' };

/** Throws a Fault when the user lacks the permission for the signer. */
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
  if (verb === 'sign' && sameJson(signedFields(next), signedFields(old))) return;
  const signer = String(part(old, 'spec')['signerName']);
  // `domain/*` grants all signers of a domain.
  const names = [signer, `${signer.split('/')[0]}/*`];
  const attributes = { verb, group, resource: 'signers', subresource: '', namespace: '' };
  if (names.some((each) => rbac.allows(user, { ...attributes, name: each }))) return;
  throw forbidden(resource, name, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`);
}

function signedFields(object: AnyObject): JsonObject {
  const { certificate, conditions = [] } = part(object, 'status');
  return { certificate, conditions };
}
