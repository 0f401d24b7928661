// The outcome of each rule, by mesh.
import { defineModel } from '../../controller/index.ts';
import type { Model } from '../../controller/index.ts';
import { derive } from '../../watchable/index.ts';
import type { DerivedValues } from '../../watchable/index.ts';
import type { Problem } from '../errors.ts';
import { memo } from '../memo.ts';
import { keyOf } from '../model.ts';
import type { MeshPlan, Ref, RuleOutcome } from '../model.ts';
import { rules } from './decoded.ts';
import type { PlanModels } from './plans.ts';

export interface RuleReport {
  /** Why it is in none of its meshes, or not in all of them. */
  readonly problem?: Problem;
  readonly meshes: readonly RuleInMesh[];
}

interface RuleInMesh {
  readonly mesh: Ref;
  /** The key of the mesh. */
  readonly key: string;
  readonly hosts: readonly string[];
  readonly rejected?: Problem;
  readonly warnings: readonly Problem[];
  /** Why the whole mesh is rejected. */
  readonly failure?: Problem;
}

/** The outcomes by the key of the rule. */
const outcomesOf = memo(
  (plan: MeshPlan): ReadonlyMap<string, RuleOutcome> => new Map(plan.rules.map((each) => [keyOf(each.rule), each])),
);
const warningsOf = memo((plan: MeshPlan): ReadonlyMap<string, readonly Problem[]> => {
  const diagnostics = plan.diagnostics.filter(({ severity }) => severity === 'warning');
  return Map.groupBy(diagnostics, ({ object }) => object);
});

/** Reports by the key of the rule; none for a rule that targets no mesh of AWS App Mesh. */
export function ruleReports(plans: PlanModels): Model<DerivedValues<string, RuleReport>> {
  return defineModel((facts) =>
    derive('reports of rules', (read, key: string): RuleReport | undefined => {
      const all = facts(read);
      const decoded = read.get(all.model(rules), key);
      if (decoded === undefined) return undefined;
      if ('invalid' in decoded) return { problem: decoded.invalid, meshes: [] };
      const assignment = read.get(all.model(plans.assignments), key);
      const meshes = (assignment?.meshes ?? []).flatMap((mesh): RuleInMesh[] => {
        const plan = read.get(all.model(plans.meshPlans), mesh);
        return plan === undefined ? [] : [inMesh(plan, mesh, decoded.value.ref)];
      });
      const problem = assignment?.problem;
      if (problem === undefined && meshes.length === 0) return undefined;
      return { meshes, ...(problem && { problem }) };
    }),
  );
}

function inMesh(plan: MeshPlan, key: string, rule: Ref): RuleInMesh {
  const { hosts = [], rejected } = outcomesOf(plan).get(keyOf(rule)) ?? {};
  const diagnostics = warningsOf(plan).get(`RoutingRule ${rule.namespace}/${rule.name}`) ?? [];
  return {
    mesh: plan.mesh,
    key,
    hosts,
    ...(rejected && { rejected }),
    warnings: diagnostics.map(({ code, message }) => ({ code, message })),
    ...(plan.isRejected && plan.failure && { failure: plan.failure }),
  };
}
