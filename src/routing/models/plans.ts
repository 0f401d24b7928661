// Tables → MeshPlan, in separate steps: a changed rule is the only one that is resolved again, and another pod of the
// same virtual node changes nothing.
import { defineModel } from '../../controller/index.ts';
import type { Facts, Model } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import { derive, jsonEqual } from '../../watchable/index.ts';
import type { DerivedMap, DerivedValues } from '../../watchable/index.ts';
import { checkRule, namingOf } from '../backends/check.ts';
import type { Backend } from '../backends/backend.ts';
import { topologyOf } from '../backends/appmesh.ts';
import type { Topology } from '../backends/appmesh.ts';
import { RoutingRule } from '../../api/routing.ts';
import { diagnostic } from '../errors.ts';
import type { Diagnostic, Problem } from '../errors.ts';
import { memo } from '../memo.ts';
import type { HostRoutes, MeshPlan, Mesh, MeshGroup, Ref } from '../model.ts';
import { finder } from '../resolve/find.ts';
import { assemblePlan, meshNameOf, sameMeshAs } from '../resolve/plan.ts';
import { resolveRule } from '../resolve/rule.ts';
import type { RulePlan } from '../resolve/rule.ts';
import { targetsOf } from '../resolve/targets.ts';
import { resolveWorkloads } from '../resolve/workloads.ts';
import type { Workloads } from '../resolve/workloads.ts';
import { sorted } from '../decode/snapshot.ts';
import type { TranslateOptions } from '../translate.ts';
import { groups, invalidOf, meshes, pods, rules, services, upstreams, valueOf, valuesOf } from './decoded.ts';

/** The meshes of a rule. */
interface Assignment {
  readonly ref: Ref;
  /** Keys of meshes of AWS App Mesh. */
  readonly meshes: readonly string[];
  readonly problem?: Problem;
  /** Why the rule is invalid; its meshes are known nevertheless. */
  readonly invalid?: Problem;
}

/** A host of a mesh. */
export interface HostKey {
  readonly mesh: string;
  readonly host: string;
}

/** The separator is unambiguous, as hosts contain no spaces. */
export const hostKey = ({ mesh, host }: HostKey): string => `${host} ${mesh}`;

export interface PlanModels {
  readonly assignments: Model<DerivedMap<string, Assignment>>;
  /** By the key of the mesh. */
  readonly meshPlans: Model<DerivedValues<string, MeshPlan>>;
  readonly topologies: Model<DerivedValues<string, Topology>>;
  readonly hostRoutes: Model<DerivedValues<HostKey, HostRoutes>>;
}

interface Directory {
  readonly meshes: readonly Mesh[];
  readonly groups: readonly MeshGroup[];
}

const directory = defineModel((facts) =>
  derive('directory of meshes', (read, _all: 'all'): Directory => ({
    meshes: valuesOf(facts(read), meshes),
    groups: valuesOf(facts(read), groups),
  })),
);

/** Finds meshes and groups by reference. */
const findersOf = memo((all: Directory) => ({ mesh: finder(all.meshes), group: finder(all.groups) }));

const directoryIn = (facts: Facts): Directory => facts.read.get(facts.model(directory), 'all')!;

export function findersIn(facts: Facts): ReturnType<typeof findersOf> {
  return findersOf(directoryIn(facts));
}

/** Diagnostics about invalid pods, upstreams and services, which might belong to any mesh. */
const unreadable = defineModel((facts) =>
  derive('what cannot be read', (read, _all: 'all'): readonly Diagnostic[] => [
    ...invalidOf(facts(read), pods, 'Pod'),
    ...invalidOf(facts(read), upstreams, 'Upstream'),
    ...invalidOf(facts(read), services, 'Service'),
  ]),
);

const assignments: PlanModels['assignments'] = defineModel((facts) =>
  derive(
    'meshes of rules',
    (read, key: string): Assignment | undefined => {
      const found = read.get(facts(read).model(rules), key);
      if (found === undefined) return undefined;
      const rule = 'value' in found ? found.value : found.rest;
      const find = findersIn(facts(read));
      const { targets, problem } = targetsOf(rule, find.mesh, find.group);
      const ours = targets.map(({ ref }) => keyOf(ref));
      return {
        ref: rule.ref,
        meshes: ours,
        ...(problem && { problem }),
        ...('invalid' in found && { invalid: found.invalid }),
      };
    },
    {
      keys: (read) => read.keys(facts(read).model(rules)),
      indexes: { mesh: (assignment) => assignment.meshes },
    },
  ),
);

/** The routes of each host. */
const routesByHost = memo(
  ({ hostRoutes }: MeshPlan): ReadonlyMap<string, HostRoutes> => new Map(hostRoutes.map((each) => [each.host, each])),
);

/** The models of plans, for the capabilities of a back end. */
export function planModels(backend: Backend<unknown>, options: TranslateOptions): PlanModels {
  const { mode } = options;
  const naming = namingOf(backend);

  const workloads = defineModel((facts) =>
    derive(
      'workloads',
      (read, meshName: string): Workloads => {
        const all = facts(read);
        const running = {
          pods: valuesOf(all, pods),
          upstreams: valuesOf(all, upstreams),
          services: valuesOf(all, services),
        };
        return resolveWorkloads(meshName, running, { mode, ...naming });
      },
      { isolate: 'none', equals: isSame },
    ),
  );

  const rulePlans = defineModel((facts) =>
    derive(
      'rules in meshes',
      (read, { meshName, rule: key }: { readonly meshName: string; readonly rule: string }): RulePlan | undefined => {
        const rule = valueOf(facts(read), rules, key);
        const resolved = read.get(facts(read).model(workloads), meshName)!;
        return rule && checkRule(resolveRule(rule, resolved, mode), backend, mode);
      },
      { key: ({ meshName, rule }) => `${rule} ${meshName}` },
    ),
  );

  const meshPlans: PlanModels['meshPlans'] = defineModel((facts) =>
    derive('plans of meshes', (read, key: string): MeshPlan | undefined => {
      const all = facts(read);
      const mesh = valueOf(all, meshes, key);
      if (!mesh?.isAppMesh) return undefined;
      const meshName = meshNameOf(mesh, mode);
      const resolved = read.get(all.model(workloads), meshName)!;
      // SuperGloo numbers routes by the namespaces and names of rules.
      const assigned = sorted(read.index(all.model(assignments), 'mesh', key));
      const resolveRules = (): readonly RulePlan[] =>
        assigned.flatMap(({ ref }) => read.get(all.model(rulePlans), { meshName, rule: keyOf(ref) }) ?? []);
      const plan = assemblePlan(mesh, resolved, resolveRules, {
        ...options,
        ...naming,
        sameMesh: sameMeshAs(mesh, directoryIn(all).meshes, mode),
      });
      const unread = [
        ...read.get(all.model(unreadable), 'all')!,
        ...assigned.flatMap(({ ref, invalid }) =>
          invalid === undefined ? [] : [diagnostic('error', RoutingRule.kind, ref, invalid)],
        ),
      ];
      return unread.length === 0 ? plan : { ...plan, diagnostics: [...plan.diagnostics, ...unread] };
    }),
  );

  const topologies: PlanModels['topologies'] = defineModel((facts) =>
    derive('topologies of meshes', (read, key: string): Topology | undefined => {
      const plan = read.get(facts(read).model(meshPlans), key);
      return plan && topologyOf(plan);
    }),
  );

  const hostRoutes: PlanModels['hostRoutes'] = defineModel((facts) =>
    derive(
      'routes of hosts',
      (read, { mesh, host }: HostKey): HostRoutes | undefined => {
        const plan = read.get(facts(read).model(meshPlans), mesh);
        return plan && routesByHost(plan).get(host);
      },
      { key: hostKey },
    ),
  );

  return { assignments, meshPlans, topologies, hostRoutes };
}

/** Whether two results are equal: the fields that are not compared follow from these. */
function isSame(a: Workloads, b: Workloads): boolean {
  const partsOf = ({
    workloads,
    services: hosts,
    upstreams: injected,
    unresolved,
    unresolvedUpstreams,
    problemsFound,
    failures,
  }: Workloads) => [workloads, hosts, injected, unresolved, unresolvedUpstreams, problemsFound, failures];
  return jsonEqual(partsOf(a), partsOf(b));
}
