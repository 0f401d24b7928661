// Role-based access control: what the roles and bindings in the store allow a user. Asked for every request of
// everybody who is not in system:masters.
import type { AnyObject } from '../../kube/objects.ts';
import { matches, selectorOf } from '../../kube/selector.ts';
import type { LabelSelector } from '../../kube/selector.ts';
import type { UserInfo } from '../rest/context.ts';
import type { Store } from '../store/store.ts';

/** One rule of a role. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** What somebody wants to do. */
export interface Attributes {
  readonly verb: string;
  /** Set for requests that name no resource; the other fields are then empty. */
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
const rememberedUsers = 1_000;

export class Rbac {
  readonly #store: Store;
  readonly #known = new Map<string, UserRules>();

  constructor(store: Store) {
    this.#store = store;
    for (const collection of collections) store.subscribe(collection, () => this.#known.clear());
  }

  /** May the user do this? */
  allows(user: UserInfo, attributes: Attributes): boolean {
    if (user.groups.includes('system:masters')) return true;
    return this.rulesOf(user, attributes.namespace).some((rule) => covers(rule, attributes));
  }

  /** Which binding allows the user to do this, in words; undefined when none has to. */
  reason(user: UserInfo, wanted: Attributes): string | undefined {
    if (user.groups.includes('system:masters')) return undefined;
    const bindings = [...this.#store.list(clusterRoleBindings), ...this.#store.list(roleBindings)];
    for (const { object } of bindings) {
      const { name, namespace = '' } = object.metadata;
      if (namespace !== '' && namespace !== wanted.namespace) continue;
      const role = (object['roleRef'] ?? {}) as { readonly kind?: string; readonly name?: string };
      const subject = subjectsOf(object).find((candidate) => isSubject(user, candidate, namespace));
      if (subject === undefined || !this.rulesOfRole(role, namespace).some((rule) => covers(rule, wanted))) continue;
      const binding = namespace === '' ? `ClusterRoleBinding "${name}"` : `RoleBinding "${name}/${namespace}"`;
      const place = subject.kind === 'ServiceAccount' ? `/${subject.namespace ?? namespace}` : '';
      return `RBAC: allowed by ${binding} of ${role.kind} "${role.name}" to ${subject.kind} "${subject.name}${place}"`;
    }
    return undefined;
  }

  /** Every rule that holds for the user in a namespace, those of the whole cluster included. */
  rulesOf(user: UserInfo, namespace: string): readonly PolicyRule[] {
    if (user.groups.includes('system:masters')) return everything;
    const { everywhere, byNamespace } = this.#rules(user);
    const local = namespace === '' ? undefined : byNamespace.get(namespace);
    return local === undefined ? everywhere : [...everywhere, ...local];
  }

  /** The rules that a reference to a role stands for. */
  rulesOfRole(reference: { readonly kind?: string; readonly name?: string }, namespace: string): readonly PolicyRule[] {
    const { kind, name = '' } = reference;
    if (kind === 'Role') return rulesIn(this.#store.get(roles, `${namespace}/${name}`)?.object);
    return this.#clusterRoleRules(this.#store.get(clusterRoles, name)?.object);
  }

  #rules(user: UserInfo): UserRules {
    const key = JSON.stringify([user.username, user.groups]);
    let rules = this.#known.get(key);
    if (rules === undefined) {
      if (this.#known.size >= rememberedUsers) this.#known.clear();
      this.#known.set(key, (rules = this.#collect(user)));
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

  /** An aggregated role is the sum of the roles that its selectors choose, each counted once. */
  #clusterRoleRules(role: AnyObject | undefined, counted = new Set<string>()): readonly PolicyRule[] {
    const { clusterRoleSelectors } = (role?.['aggregationRule'] ?? {}) as { clusterRoleSelectors?: LabelSelector[] };
    if (role === undefined || clusterRoleSelectors === undefined) return rulesIn(role);
    counted.add(role.metadata.name);
    const selectors = clusterRoleSelectors.map(selectorOf);
    return this.#store
      .list(clusterRoles)
      .filter(
        ({ object }) =>
          !counted.has(object.metadata.name) && selectors.some((selector) => matches(selector, object.metadata.labels)),
      )
      .flatMap(({ object }) => this.#clusterRoleRules(object, counted));
  }
}

const everything: readonly PolicyRule[] = [
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

/** Does a rule allow this? */
export function covers(rule: PolicyRule, wanted: Attributes): boolean {
  if (!includes(rule.verbs, wanted.verb)) return false;
  if (wanted.path !== undefined) return (rule.nonResourceURLs ?? []).some((pattern) => fitsPath(pattern, wanted.path!));
  if (!includes(rule.apiGroups ?? [], wanted.group)) return false;
  const { resources = [], resourceNames = [] } = rule;
  const full = wanted.subresource === '' ? wanted.resource : `${wanted.resource}/${wanted.subresource}`;
  const fits =
    includes(resources, full) || (wanted.subresource !== '' && resources.includes(`*/${wanted.subresource}`));
  return fits && (resourceNames.length === 0 || (wanted.name !== '' && resourceNames.includes(wanted.name)));
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}

function fitsPath(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}
