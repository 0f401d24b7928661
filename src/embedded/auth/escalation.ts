// Prevents privilege escalation: writing a role or binding must not grant permissions that the user does not hold.
import type { AnyObject } from '../../kube/objects.ts';
import { sameJson } from '../patch/json.ts';
import type { Target, UserInfo } from '../rest/context.ts';
import { forbidden } from '../rest/fault.ts';
import type { Rbac } from './rbac.ts';
import { covers } from './rbac.ts';
import type { Attributes, PolicyRule } from './rbac.ts';

const group = 'rbac.authorization.k8s.io';

/** Throws a Fault when the write would grant permissions that the user does not hold. */
export function refuseEscalation(
  rbac: Rbac,
  user: UserInfo,
  target: Target,
  next: AnyObject,
  old: AnyObject | undefined,
): void {
  const { resource, namespace, name } = target;
  if (resource.group !== group || user.groups.includes('system:masters')) return;
  const grantingFields = ['rules', 'aggregationRule', 'roleRef', 'subjects'];
  if (old !== undefined && grantingFields.every((field) => sameJson(next[field], old[field]))) return;
  const isBinding = resource.plural.endsWith('bindings');
  const reference = (next['roleRef'] ?? {}) as { kind?: string; name?: string };
  const override: Attributes = isBinding
    ? {
        verb: 'bind',
        group,
        resource: reference.kind === 'Role' ? 'roles' : 'clusterroles',
        subresource: '',
        namespace,
        name: reference.name ?? '',
      }
    : { verb: 'escalate', group, resource: resource.plural, subresource: '', namespace, name };
  if (rbac.allows(user, override)) return;
  const granted = isBinding ? rbac.rulesOfRole(reference, namespace) : ((next['rules'] ?? []) as PolicyRule[]);
  const held = rbac.rulesOf(user, namespace);
  const missing = granted
    .flatMap((rule) => singlePermissions(rule))
    .filter((permission) => !held.some((rule) => covers(rule, permission)));
  if (missing.length === 0) return;
  const list = groupByResource(missing).join('\n');
  const why = `user "${user.username}" (groups=${JSON.stringify(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${list}`;
  throw forbidden(resource, name, why);
}

/** Splits a rule into single permissions. A `*` stays: only a `*` covers it. */
function singlePermissions(rule: PolicyRule): Attributes[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names = resourceNames.length === 0 ? [''] : resourceNames;
  const empty = { group: '', resource: '', subresource: '', namespace: '', name: '' };
  return verbs.flatMap((verb) => [
    ...nonResourceURLs.map((path) => ({ ...empty, verb, path })),
    ...apiGroups.flatMap((apiGroup) =>
      resources.flatMap((full) => {
        const [resource = '', subresource = ''] = full.split('/');
        return names.map((name) => ({ ...empty, verb, group: apiGroup, resource, subresource, name }));
      }),
    ),
  ]);
}

/** One line for each resource with all its verbs, sorted. */
function groupByResource(missing: readonly Attributes[]): string[] {
  const verbs = new Map<string, Set<string>>();
  for (const permission of missing) {
    const what = describe(permission);
    verbs.set(what, (verbs.get(what) ?? new Set()).add(permission.verb));
  }
  const quoted = (names: Set<string>): string => [...names].map((name) => `"${name}"`).join(' ');
  return [...verbs].map(([what, names]) => `{${what}, Verbs:[${quoted(names)}]}`).sort();
}

function describe({ path, group: apiGroup, resource, subresource, name }: Attributes): string {
  if (path !== undefined) return `NonResourceURLs:["${path}"]`;
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  const names = name === '' ? '' : `, ResourceNames:["${name}"]`;
  return `APIGroups:["${apiGroup}"], Resources:["${full}"]${names}`;
}
