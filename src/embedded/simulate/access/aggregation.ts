// Aggregated ClusterRoles: their rules are the rules of all ClusterRoles that their selectors match.
import type { KubeObject } from '../../../kube/objects.ts';
import { matches } from '../../../kube/selector.ts';
import type { LabelSelector } from '../../../kube/selector.ts';
import { sameJson } from '../../patch/json.ts';
import type { Collection } from '../../kinds/types.ts';
import type { Controller } from '../loop.ts';
import { safeSelector } from '../values.ts';
import type { World } from '../world.ts';
import { controllerManager, nothing, updateOf } from '../writes.ts';
import type { Plan } from '../writes.ts';

interface ClusterRole extends KubeObject {
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] };
  readonly rules?: readonly unknown[] | null;
}

const roles: Collection<ClusterRole> = 'clusterroles.rbac.authorization.k8s.io';

function planAggregation(world: World, role: ClusterRole): Plan {
  if (role.aggregationRule === undefined || role.metadata.deletionTimestamp !== undefined) return nothing;
  const selectors = (role.aggregationRule.clusterRoleSelectors ?? []).flatMap((one) => {
    const selector = safeSelector(one);
    return selector === undefined ? [] : [selector];
  });
  const rules: unknown[] = [];
  for (const other of world.list(roles)) {
    const selected = selectors.some((selector) => matches(selector, other.metadata.labels));
    if (!selected || other.metadata.name === role.metadata.name) continue;
    for (const rule of other.rules ?? []) {
      if (!rules.some((known) => sameJson(known, rule))) rules.push(rule);
    }
  }
  if (sameJson(rules, role.rules ?? [])) return nothing;
  const next: ClusterRole = { ...role, rules: rules.length === 0 ? null : rules };
  return { writes: [updateOf(next)] };
}

const withoutEscalation = controllerManager('clusterrole-aggregation-controller');
/** May grant permissions that it does not hold itself (the verb "escalate"). */
const writer = {
  ...withoutEscalation,
  user: { ...withoutEscalation.user, groups: ['system:masters', ...withoutEscalation.user.groups] },
};

export const aggregationController: Controller = {
  name: 'clusterrole-aggregation-controller',
  writer,
  on: {
    // A change of any role can affect every aggregated role; there are few of those.
    [roles]: (_event, world) =>
      world
        .list(roles)
        .flatMap(({ aggregationRule, metadata }) => (aggregationRule === undefined ? [] : [metadata.name])),
  },
  plan: (world, key) => {
    const role = world.get(roles, key);
    return role === undefined ? nothing : planAggregation(world, role);
  },
};
