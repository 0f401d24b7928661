// Issues a token for a service account: the subresource `serviceaccounts/token`.
import { timestamp } from '../../kube/times.ts';
import type { AnyObject } from '../../kube/objects.ts';
import { badRequest, conflict, invalid, notFound } from '../rest/fault.ts';
import { invalid as invalidValue } from '../schema/field-error.ts';
import type { Store } from '../store/store.ts';
import { issuer } from './tokens.ts';
import type { TokenClaims, TokenKey } from './tokens.ts';

interface TokenRequestSpec {
  readonly audiences?: readonly string[];
  readonly expirationSeconds?: number;
  readonly boundObjectRef?: {
    readonly kind?: string;
    readonly apiVersion?: string;
    readonly name?: string;
    readonly uid?: string;
  } | null;
}

const hour = 3600;
const shortestSeconds = 600;
const longestSeconds = 2 ** 32;
const bindable: Readonly<Record<string, string>> = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' };

export function issueToken(
  store: Store,
  key: TokenKey,
  account: AnyObject,
  request: Readonly<Record<string, unknown>>,
): AnyObject {
  const spec = (request['spec'] ?? {}) as TokenRequestSpec;
  if (typeof spec !== 'object' || Array.isArray(spec)) throw badRequest('spec must be an object');
  const seconds = spec.expirationSeconds ?? hour;
  const refuse = (field: string, value: unknown, detail: string): never => {
    throw invalid({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', [invalidValue(field, value, detail)]);
  };
  if (!Number.isInteger(seconds) || seconds < shortestSeconds) {
    refuse('spec.expirationSeconds', seconds, 'may not specify a duration less than 10 minutes');
  }
  if (seconds > longestSeconds) {
    refuse('spec.expirationSeconds', seconds, 'may not specify a duration larger than 2^32 seconds');
  }
  const audiences = (spec.audiences ?? []).length > 0 ? spec.audiences! : [issuer];
  if (!Array.isArray(audiences) || audiences.some((audience) => typeof audience !== 'string')) {
    throw badRequest('spec.audiences must be a list of strings');
  }
  const { name, namespace = '', uid = '' } = account.metadata;
  const expires = Math.floor(Date.now() / 1000) + seconds;
  const boundTo = spec.boundObjectRef ? boundObject(store, namespace, spec.boundObjectRef) : undefined;
  const claims = { namespace, name, uid, audiences, expires, ...(boundTo !== undefined && { boundTo }) };
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace, creationTimestamp: timestamp(Date.now()) },
    spec: { ...spec, audiences, expirationSeconds: seconds, boundObjectRef: spec.boundObjectRef ?? null },
    status: { token: key.issue(claims), expirationTimestamp: timestamp(expires * 1000) },
  };
}

function boundObject(
  store: Store,
  namespace: string,
  reference: NonNullable<TokenRequestSpec['boundObjectRef']>,
): NonNullable<TokenClaims['boundTo']> {
  const { kind = '', name = '', uid, apiVersion = '' } = reference;
  const plural = bindable[kind];
  if (plural === undefined) throw badRequest(`cannot bind token to object of type /${apiVersion}, Kind=${kind}`);
  const object = store.get(plural, kind === 'Node' ? name : `${namespace}/${name}`)?.object;
  if (object === undefined) throw notFound({ group: '', plural, kind }, name);
  if (uid !== undefined && uid !== '' && uid !== object.metadata.uid) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    // As in Kubernetes, the error names the kind instead of the resource.
    throw conflict({ group: '', plural: kind, kind }, name, why);
  }
  return { kind, name, uid: object.metadata.uid ?? '' };
}
