// Access and token reviews: the response to their creation contains the result; they are not stored.
import { timestamp } from '../../kube/times.ts';
import type { AnyObject } from '../../kube/objects.ts';
import type { UserInfo } from '../rest/context.ts';
import { badRequest, invalid } from '../rest/fault.ts';
import type { Fault } from '../rest/fault.ts';
import { invalid as invalidValue } from '../schema/field-error.ts';
import type { Access } from './access.ts';
import type { Attributes } from './rbac.ts';
import { issuer } from './tokens.ts';

interface ReviewSpec {
  readonly resourceAttributes?: {
    readonly namespace?: string;
    readonly verb?: string;
    readonly group?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly name?: string;
  };
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string };
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly token?: string;
  readonly audiences?: readonly string[];
  readonly namespace?: string;
}

/** Fills in the status of a review; undefined when the object is not a review. */
export function review(access: Access, user: UserInfo, object: AnyObject): AnyObject | undefined {
  const spec = (object['spec'] ?? {}) as ReviewSpec;
  switch (object.kind) {
    case 'SelfSubjectAccessReview':
      return { ...object, status: decision(access, user, attributesOf(spec)) };
    case 'SubjectAccessReview':
    case 'LocalSubjectAccessReview': {
      if (
        object.kind === 'LocalSubjectAccessReview' &&
        spec.resourceAttributes?.namespace !== object.metadata.namespace
      ) {
        const namespace = spec.resourceAttributes?.namespace ?? '';
        throw invalidReview('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace');
      }
      return { ...object, status: decision(access, subjectOf(spec), attributesOf(spec)) };
    }
    case 'SelfSubjectRulesReview':
      return { ...object, status: rules(access, user, spec.namespace ?? '') };
    case 'TokenReview':
      return { ...object, status: tokenStatus(access, spec) };
    case 'SelfSubjectReview':
      return {
        ...object,
        metadata: { ...object.metadata, creationTimestamp: timestamp(Date.now()) },
        status: { userInfo: user },
      };
    default:
      return undefined;
  }
}

/** As in Kubernetes, the error does not name the kind. */
function invalidReview(field: string, value: unknown, why: string): Fault {
  return invalid({ group: 'authorization.k8s.io', kind: '' }, '', [invalidValue(field, value, why)]);
}

function attributesOf(spec: ReviewSpec): Attributes {
  const { resourceAttributes, nonResourceAttributes } = spec;
  if ((resourceAttributes === undefined) === (nonResourceAttributes === undefined)) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    throw invalidReview('spec.resourceAttributes', null, why);
  }
  if (nonResourceAttributes !== undefined) {
    return {
      verb: nonResourceAttributes.verb ?? '',
      path: nonResourceAttributes.path ?? '',
      group: '',
      resource: '',
      subresource: '',
      namespace: '',
      name: '',
    };
  }
  const {
    verb = '',
    group = '',
    resource = '',
    subresource = '',
    namespace = '',
    name = '',
  } = resourceAttributes ?? {};
  return { verb, group, resource, subresource, namespace, name };
}

function subjectOf(spec: ReviewSpec): UserInfo {
  if ((spec.user ?? '') === '' && (spec.groups ?? []).length === 0) {
    throw invalidReview('spec.user', '', 'at least one of user or group must be specified');
  }
  return { username: spec.user ?? '', groups: spec.groups ?? [] };
}

function decision(access: Access, user: UserInfo, attributes: Attributes): object {
  const allowed = access.rbac.allows(user, attributes);
  const reason = allowed ? access.rbac.reason(user, attributes) : undefined;
  return { allowed, ...(reason !== undefined && { reason }) };
}

function rules(access: Access, user: UserInfo, namespace: string): object {
  if (namespace === '') throw badRequest('no namespace on request');
  const all = access.rbac.rulesOf(user, namespace);
  return {
    resourceRules: all
      .filter((rule) => rule.nonResourceURLs === undefined)
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({ verbs, apiGroups, resources, resourceNames })),
    nonResourceRules: all
      .filter((rule) => rule.nonResourceURLs !== undefined)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: false,
  };
}

function tokenStatus(access: Access, spec: ReviewSpec): object {
  if ((spec.token ?? '') === '') throw badRequest('token is required for TokenReview in authentication');
  const found = access.tokenUser(spec.token ?? '');
  const requested = spec.audiences ?? [issuer];
  if (found === undefined) return { user: {}, error: 'invalid bearer token' };
  const audiences = found.audiences.filter((audience) => requested.includes(audience));
  if (audiences.length === 0) {
    return {
      user: {},
      error: `token audiences ${JSON.stringify(found.audiences)} is invalid for the target audiences ${JSON.stringify(requested)}`,
    };
  }
  return { authenticated: true, user: found.user, audiences };
}
