// Validates roles and role bindings.
import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../resource.ts';
import { type FieldError, invalid, notSupported, required } from '../../schema/field-error.ts';
import { objects, strings, text } from '../read.ts';
import { nameErrors } from './common.ts';
import { dns1123SubdomainProblems, pathSegmentProblems } from './names.ts';

const rbacGroup = 'rbac.authorization.k8s.io';

export function roleErrors(object: ApiObject): FieldError[] {
  const namespaced = object['kind'] === 'Role';
  return objects(object, 'rules').flatMap((rule, index) => {
    const itemPath = `rules[${index}]`;
    const errors: FieldError[] = [];
    if (strings(rule, 'verbs').length === 0)
      errors.push(required(`${itemPath}.verbs`, 'verbs must contain at least one value'));
    const urls = strings(rule, 'nonResourceURLs');
    if (urls.length > 0) {
      if (namespaced)
        errors.push(invalid(`${itemPath}.nonResourceURLs`, urls, 'namespaced rules cannot apply to non-resource URLs'));
      if (['apiGroups', 'resources', 'resourceNames'].some((field) => strings(rule, field).length > 0)) {
        errors.push(
          invalid(
            `${itemPath}.nonResourceURLs`,
            urls,
            'rules cannot apply to both regular resources and non-resource URLs',
          ),
        );
      }
      return errors;
    }
    if (strings(rule, 'apiGroups').length === 0)
      errors.push(required(`${itemPath}.apiGroups`, 'resource rules must supply at least one api group'));
    if (strings(rule, 'resources').length === 0)
      errors.push(required(`${itemPath}.resources`, 'resource rules must supply at least one resource'));
    return errors;
  });
}

export function bindingErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const namespaced = object['kind'] === 'RoleBinding';
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  const errors: FieldError[] = [];
  const group = text(object, 'roleRef', 'apiGroup');
  if (group !== rbacGroup) errors.push(notSupported('roleRef.apiGroup', group, [rbacGroup]));
  const kind = text(object, 'roleRef', 'kind');
  if (!kinds.includes(kind)) errors.push(notSupported('roleRef.kind', kind, kinds));
  const name = text(object, 'roleRef', 'name');
  if (name === '') errors.push(required('roleRef.name'));
  else errors.push(...nameErrors(pathSegmentProblems, name, 'roleRef.name'));
  for (const [index, subject] of objects(object, 'subjects').entries()) {
    errors.push(...subjectErrors(subject, namespaced, `subjects[${index}]`));
  }
  if (old !== undefined && !isDeepStrictEqual(object['roleRef'], old['roleRef'])) {
    errors.push(invalid('roleRef', { APIGroup: group, Kind: kind, Name: name }, 'cannot change roleRef'));
  }
  return errors;
}

function subjectErrors(subject: ApiObject, namespaced: boolean, path: string): FieldError[] {
  const kind = text(subject, 'kind');
  const name = text(subject, 'name');
  const group = text(subject, 'apiGroup');
  const errors = name === '' ? [required(`${path}.name`)] : [];
  if (kind === 'ServiceAccount') {
    if (name !== '') errors.push(...nameErrors(dns1123SubdomainProblems, name, `${path}.name`));
    if (group !== '') errors.push(notSupported(`${path}.apiGroup`, group, ['']));
    if (!namespaced && text(subject, 'namespace') === '') errors.push(required(`${path}.namespace`));
  } else if (kind === 'User' || kind === 'Group') {
    if (group !== rbacGroup) errors.push(notSupported(`${path}.apiGroup`, group, [rbacGroup]));
  } else {
    errors.push(notSupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group']));
  }
  return errors;
}
