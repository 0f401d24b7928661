// The reviews: questions about access that are asked by creating an object. They are answered and never stored.
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

/** Answers a review of the given kind; undefined when the kind is none. */
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
        throw refused('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace');
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

/** Refusals of reviews do not say which kind they are about. */
function refused(field: string, value: unknown, why: string): Fault {
  return invalid({ group: 'authorization.k8s.io', kind: '' }, '', [invalidValue(field, value, why)]);
}

function attributesOf(spec: ReviewSpec): Attributes {
  const { resourceAttributes: of, nonResourceAttributes: path } = spec;
  if ((of === undefined) === (path === undefined)) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    throw refused('spec.resourceAttributes', null, why);
  }
  if (path !== undefined) {
    return {
      verb: path.verb ?? '',
      path: path.path ?? '',
      group: '',
      resource: '',
      subresource: '',
      namespace: '',
      name: '',
    };
  }
  const { verb = '', group = '', resource = '', subresource = '', namespace = '', name = '' } = of ?? {};
  return { verb, group, resource, subresource, namespace, name };
}

function subjectOf(spec: ReviewSpec): UserInfo {
  if ((spec.user ?? '') === '' && (spec.groups ?? []).length === 0) {
    throw refused('spec.user', '', 'at least one of user or group must be specified');
  }
  return { username: spec.user ?? '', groups: spec.groups ?? [] };
}

function decision(access: Access, user: UserInfo, wanted: Attributes): object {
  const allowed = access.rbac.allows(user, wanted);
  const reason = allowed ? access.rbac.reason(user, wanted) : undefined;
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
  const wanted = spec.audiences ?? [issuer];
  if (found === undefined) return { user: {}, error: 'invalid bearer token' };
  const audiences = found.audiences.filter((audience) => wanted.includes(audience));
  if (audiences.length === 0) {
    return {
      user: {},
      error: `token audiences ${JSON.stringify(found.audiences)} is invalid for the target audiences ${JSON.stringify(wanted)}`,
    };
  }
  return { authenticated: true, user: found.user, audiences };
}
