// Role-based access control: evaluates the roles and bindings in the store. Called for every request of users outside
// system:masters.
import type { AnyObject } from '../../kube/objects.ts';
import { matches, selectorOf } from '../../kube/selector.ts';
import type { LabelSelector } from '../../kube/selector.ts';
import type { UserInfo } from '../rest/context.ts';
import type { Store } from '../store/store.ts';

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** The attributes of a request that decide whether it is allowed. */
export interface Attributes {
  readonly verb: string;
  /** Set for non-resource requests; the other fields but `verb` are then empty. */
  readonly path?: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

interface UserRules {
  readonly everywhere: readonly PolicyRule[];
  readonly byNamespace: ReadonlyMap<string, readonly PolicyRule[]>;
}

const rbacGroup = 'rbac.authorization.k8s.io';
const collections = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'].map(
  (name) => `${name}.${rbacGroup}`,
);
const [clusterRoles, clusterRoleBindings, roles, roleBindings] = collections as [string, string, string, string];
const maxCachedUsers = 1_000;

export class Rbac {
  readonly #store: Store;
  readonly #cache = new Map<string, UserRules>();

  constructor(store: Store) {
    this.#store = store;
    for (const collection of collections) store.subscribe(collection, () => this.#cache.clear());
  }

  /** Is the user allowed to send a request with these attributes? */
  allows(user: UserInfo, attributes: Attributes): boolean {
    if (user.groups.includes('system:masters')) return true;
    return this.rulesOf(user, attributes.namespace).some((rule) => covers(rule, attributes));
  }

  /** A text that names the binding that allows the request; undefined without one, as for system:masters. */
  reason(user: UserInfo, attributes: Attributes): string | undefined {
    if (user.groups.includes('system:masters')) return undefined;
    const bindings = [...this.#store.list(clusterRoleBindings), ...this.#store.list(roleBindings)];
    for (const { object } of bindings) {
      const { name, namespace = '' } = object.metadata;
      if (namespace !== '' && namespace !== attributes.namespace) continue;
      const role = (object['roleRef'] ?? {}) as { readonly kind?: string; readonly name?: string };
      const subject = subjectsOf(object).find((candidate) => isSubject(user, candidate, namespace));
      if (subject === undefined || !this.rulesOfRole(role, namespace).some((rule) => covers(rule, attributes)))
        continue;
      const binding = namespace === '' ? `ClusterRoleBinding "${name}"` : `RoleBinding "${name}/${namespace}"`;
      const inNamespace = subject.kind === 'ServiceAccount' ? `/${subject.namespace ?? namespace}` : '';
      return `RBAC: allowed by ${binding} of ${role.kind} "${role.name}" to ${subject.kind} "${subject.name}${inNamespace}"`;
    }
    return undefined;
  }

  /** The rules that apply to the user in a namespace, including cluster-wide ones. */
  rulesOf(user: UserInfo, namespace: string): readonly PolicyRule[] {
    if (user.groups.includes('system:masters')) return allowAll;
    const { everywhere, byNamespace } = this.#rules(user);
    const local = namespace === '' ? undefined : byNamespace.get(namespace);
    return local === undefined ? everywhere : [...everywhere, ...local];
  }

  rulesOfRole(reference: { readonly kind?: string; readonly name?: string }, namespace: string): readonly PolicyRule[] {
    const { kind, name = '' } = reference;
    if (kind === 'Role') return rulesIn(this.#store.get(roles, `${namespace}/${name}`)?.object);
    return this.#clusterRoleRules(this.#store.get(clusterRoles, name)?.object);
  }

  #rules(user: UserInfo): UserRules {
    const key = JSON.stringify([user.username, user.groups]);
    let rules = this.#cache.get(key);
    if (rules === undefined) {
      if (this.#cache.size >= maxCachedUsers) this.#cache.clear();
      this.#cache.set(key, (rules = this.#collect(user)));
    }
    return rules;
  }

  #collect(user: UserInfo): UserRules {
    const everywhere = this.#store
      .list(clusterRoleBindings)
      .filter(({ object }) => subjectsOf(object).some((subject) => isSubject(user, subject, '')))
      .flatMap(({ object }) => this.rulesOfRole(object['roleRef'] ?? {}, ''));
    const byNamespace = new Map<string, PolicyRule[]>();
    for (const { object } of this.#store.list(roleBindings)) {
      const namespace = object.metadata.namespace ?? '';
      if (!subjectsOf(object).some((subject) => isSubject(user, subject, namespace))) continue;
      const rules = this.rulesOfRole(object['roleRef'] ?? {}, namespace);
      byNamespace.set(namespace, [...(byNamespace.get(namespace) ?? []), ...rules]);
    }
    return { everywhere, byNamespace };
  }

  /** The rules of an aggregated role are those of all roles that its selectors match, each visited once. */
  #clusterRoleRules(role: AnyObject | undefined, visited = new Set<string>()): readonly PolicyRule[] {
    const { clusterRoleSelectors } = (role?.['aggregationRule'] ?? {}) as { clusterRoleSelectors?: LabelSelector[] };
    if (role === undefined || clusterRoleSelectors === undefined) return rulesIn(role);
    visited.add(role.metadata.name);
    const selectors = clusterRoleSelectors.map(selectorOf);
    return this.#store
      .list(clusterRoles)
      .filter(
        ({ object }) =>
          !visited.has(object.metadata.name) && selectors.some((selector) => matches(selector, object.metadata.labels)),
      )
      .flatMap(({ object }) => this.#clusterRoleRules(object, visited));
  }
}

const allowAll: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

function rulesIn(role: AnyObject | undefined): readonly PolicyRule[] {
  return Array.isArray(role?.['rules']) ? (role['rules'] as PolicyRule[]) : [];
}

function subjectsOf(binding: AnyObject): readonly Subject[] {
  return Array.isArray(binding['subjects']) ? (binding['subjects'] as Subject[]) : [];
}

function isSubject(user: UserInfo, subject: Subject, namespace: string): boolean {
  if (subject.kind === 'User') return subject.name === user.username;
  if (subject.kind === 'Group') return user.groups.includes(subject.name);
  if (subject.kind !== 'ServiceAccount') return false;
  return user.username === `system:serviceaccount:${subject.namespace ?? namespace}:${subject.name}`;
}

/** Does a rule allow a request with these attributes? */
export function covers(rule: PolicyRule, attributes: Attributes): boolean {
  if (!includes(rule.verbs, attributes.verb)) return false;
  if (attributes.path !== undefined)
    return (rule.nonResourceURLs ?? []).some((pattern) => pathMatches(pattern, attributes.path!));
  if (!includes(rule.apiGroups ?? [], attributes.group)) return false;
  const { resources = [], resourceNames = [] } = rule;
  const full = attributes.subresource === '' ? attributes.resource : `${attributes.resource}/${attributes.subresource}`;
  const resourceMatches =
    includes(resources, full) || (attributes.subresource !== '' && resources.includes(`*/${attributes.subresource}`));
  return (
    resourceMatches &&
    (resourceNames.length === 0 || (attributes.name !== '' && resourceNames.includes(attributes.name)))
  );
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}

function pathMatches(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}
