// Impersonation (`kubectl --as`), for users with the verb "impersonate".
import type { IncomingHttpHeaders } from 'node:http';
import type { UserInfo } from '../rest/context.ts';
import { badRequest, Fault } from '../rest/fault.ts';
import type { Rbac } from './rbac.ts';

const extraPrefix = 'impersonate-extra-';

/** The impersonated user; the user itself without impersonation headers. */
export function impersonated(rbac: Rbac, user: UserInfo, headers: IncomingHttpHeaders): UserInfo {
  const username = single(headers['impersonate-user']);
  const groups = list(headers['impersonate-group']);
  const uid = single(headers['impersonate-uid']);
  const extra = Object.entries(headers).filter(([name]) => name.startsWith(extraPrefix));
  if (username === undefined) {
    if (groups.length > 0 || uid !== undefined || extra.length > 0) {
      throw badRequest('requested impersonation of a group, uid or extra without impersonating a user');
    }
    return user;
  }
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username);
  const requirePermission = (
    group: string,
    resource: string,
    subresource: string,
    name: string,
    namespace = '',
  ): void => {
    const attributes = { verb: 'impersonate', group, resource, subresource, namespace, name };
    if (rbac.allows(user, attributes)) return;
    const full = subresource === '' ? resource : `${resource}/${subresource}`;
    const scope = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
    const message = `${resource} "${name}" is forbidden: User "${user.username}" cannot impersonate resource "${full}" in API group "${group}" ${scope}`;
    throw new Fault(403, 'Forbidden', message, { name, kind: resource });
  };
  if (account === null) requirePermission('', 'users', '', username);
  else requirePermission('', 'serviceaccounts', '', account[2]!, account[1]);
  for (const group of groups) requirePermission('', 'groups', '', group);
  if (uid !== undefined) requirePermission('authentication.k8s.io', 'uids', '', uid);
  for (const [name, value] of extra) {
    for (const item of list(value))
      requirePermission('authentication.k8s.io', 'userextras', name.slice(extraPrefix.length), item);
  }
  const accountGroups = account === null ? [] : ['system:serviceaccounts', `system:serviceaccounts:${account[1]}`];
  const all = new Set([...(groups.length > 0 ? groups : accountGroups), 'system:authenticated']);
  if (username === 'system:anonymous') {
    all.delete('system:authenticated');
    all.add('system:unauthenticated');
  }
  return {
    username,
    ...(uid !== undefined && { uid }),
    groups: [...all],
    ...(extra.length > 0 && {
      extra: Object.fromEntries(extra.map(([name, value]) => [extraKey(name), list(value)])),
    }),
  };
}

/** Keys of extra values are percent-encoded, because header names allow fewer characters. */
function extraKey(header: string): string {
  const name = header.slice(extraPrefix.length);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Node joins repeated headers with a comma and a space. */
function list(value: string | string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : value.split(', ')).filter((item) => item !== '');
}
