// The reviews: questions about access that are asked by creating an object. They are answered and never stored.
import type { AnyObject } from '../../kube/objects.ts';
import type { UserInfo } from '../rest/context.ts';
import { badRequest, invalid } from '../rest/fault.ts';
import { required } from '../schema/field-error.ts';
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
      return { ...object, status: decision(access, user, attributesOf(object, spec)) };
    case 'SubjectAccessReview':
    case 'LocalSubjectAccessReview': {
      if (
        object.kind === 'LocalSubjectAccessReview' &&
        spec.resourceAttributes?.namespace !== object.metadata.namespace
      ) {
        throw badRequest('spec.resourceAttributes.namespace must match metadata.namespace');
      }
      return { ...object, status: decision(access, subjectOf(object, spec), attributesOf(object, spec)) };
    }
    case 'SelfSubjectRulesReview':
      return { ...object, status: rules(access, user, spec.namespace ?? '') };
    case 'TokenReview':
      return { ...object, status: tokenStatus(access, spec) };
    case 'SelfSubjectReview':
      return { ...object, status: { userInfo: user } };
    default:
      return undefined;
  }
}

function attributesOf(object: AnyObject, spec: ReviewSpec): Attributes {
  const { resourceAttributes: of, nonResourceAttributes: path } = spec;
  if ((of === undefined) === (path === undefined)) {
    throw badRequest(
      `${object.kind}: spec.resourceAttributes: exactly one of nonResourceAttributes or resourceAttributes must be specified`,
    );
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

function subjectOf(object: AnyObject, spec: ReviewSpec): UserInfo {
  if ((spec.user ?? '') === '' && (spec.groups ?? []).length === 0) {
    const error = required('spec.user', 'at least one of user or group must be specified');
    throw invalid({ group: 'authorization.k8s.io', kind: object.kind }, '', [error]);
  }
  return { username: spec.user ?? '', groups: spec.groups ?? [] };
}

function decision(access: Access, user: UserInfo, wanted: Attributes): object {
  const allowed = access.rbac.allows(user, wanted);
  return allowed ? { allowed, reason: 'RBAC: allowed by the roles of the user' } : { allowed };
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
  const found = access.tokenUser(spec.token ?? '');
  const wanted = spec.audiences ?? [issuer];
  if (found === undefined) return { user: {}, error: '[invalid bearer token]' };
  const audiences = found.audiences.filter((audience) => wanted.includes(audience));
  if (audiences.length === 0) {
    return {
      user: {},
      error: `token audiences ${JSON.stringify(found.audiences)} is invalid for the target audiences ${JSON.stringify(wanted)}`,
    };
  }
  return { authenticated: true, user: found.user, audiences };
}
