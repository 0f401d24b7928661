// The details of one object: its sentence, its tree with conditions and Events, its YAML, and commands for it.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { Istio } from '../../api/istio.ts';
import { node } from '../../api/description/tree.ts';
import type { TreeNode } from '../../api/description/tree.ts';
import { eventsAbout, recentEvents } from '../../api/description/events.ts';
import type { RecentEvent } from '../../api/description/events.ts';
import { Mesh, MeshGroup, RoutingRule } from '../../api/routing.ts';
import { Upstream } from '../../api/upstream.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { conditionsOf } from '../../controller/index.ts';
import { describeEnvironment, environmentWorld, proveEnvironment } from '../../environments/index.ts';
import { keyOf } from '../../kube/index.ts';
import type { KubeObject, Ref } from '../../kube/index.ts';
import { stringify } from '../../kube/yaml.ts';
import { describeMesh, meshWorld, versionLines } from '../../mesh/index.ts';
import { describeRule, problemsOf, stateOf } from '../../routing/index.ts';
import { claimWorld, describeClaim, describeTarget, targetWorld } from '../../targets/index.ts';
import { Pod } from '../../environments/objects.ts';
import { consideredData, decisionData } from '../../traffic/index.ts';
import { Service } from '../../traffic/services.ts';
import type { EnvironmentDetail, MeshDetail, ObjectDetail, Row, RowType, TriedRequest } from '../data.ts';
import { environmentSentence, objectSentence } from '../sentences.ts';
import { timelineOf } from './timeline.ts';
import { environmentPicture } from './picture.ts';
import { readerOf } from './reader.ts';
import { rowFor, rowKey, rowsBy } from './rows.ts';
import type { Scope } from './scope.ts';
import { triedRequestOf } from './tried-request.ts';
import { mayReadAll, readsOfDecision } from './visible.ts';
import { routerIn } from './call-path.ts';

/** An environment in detail; undefined if it does not exist. */
export function environmentDetail(scope: Scope, ref: Ref): EnvironmentDetail | undefined {
  const { facts, may } = scope;
  const env = facts.get(DynamicEnv, ref);
  const row = rowIn(scope, 'environment', ref);
  if (env === undefined || row?.type !== 'environment') return undefined;
  const world = environmentWorld(readerOf(scope), env);
  const { environment: tree, call, events } = describeEnvironment(world);
  const [firstRule] = [...world.rules.values()].map(({ metadata }) => metadata.creationTimestamp ?? '').sort();
  const counterexample = counterexampleOf(scope, ref);
  const { name, namespace } = ref;
  return {
    type: 'environment',
    ...(counterexample && { counterexample }),
    ...(may('delete', DynamicEnv, ref.namespace) && { mayDelete: true as const }),
    row,
    sentence: environmentSentence(row),
    tree,
    events,
    conditions: conditionsOf(env),
    yaml: yamlOf(env),
    calls: call,
    timeline: timelineOf(env, firstRule),
    picture: environmentPicture(scope, env),
    commands: [
      `offshoot env describe ${name} -n ${namespace}`,
      `offshoot prove ${name} -n ${namespace}`,
      `kubectl get dynamicenv ${name} -n ${namespace} -o yaml`,
      `offshoot env delete ${name} -n ${namespace}`,
    ],
  };
}

/** The row of an object, as far as the user may read it. */
function rowIn(scope: Scope, type: RowType, ref: Ref): Row | undefined {
  const { facts, settings } = scope;
  const shared = facts.read.get(facts.model(rowsBy(settings)), rowKey(type, ref));
  return shared && rowFor(scope, shared);
}

/** A request of others that an environment reroutes, if there is one and the user may see it. */
function counterexampleOf(scope: Scope, ref: Ref): TriedRequest | undefined {
  const { counterexample } = proveEnvironment(scope.facts, ref, scope.settings) ?? {};
  if (counterexample === undefined) return undefined;
  const { request } = counterexample;
  const decision = routerIn(scope).decide(request);
  const reads = readsOfDecision(scope, decisionData(decision), consideredData(decision.considered));
  return mayReadAll(scope, reads) ? triedRequestOf(request) : undefined;
}

/** Describes an object that is not an environment. */
type Describe<T> = (scope: Scope, object: T) => { tree: TreeNode; events: readonly RecentEvent[] };

const describeTheClaim: Describe<DeploymentTargetClaim> = (scope, claim) =>
  describeClaim(claimWorld(readerOf(scope), claim));
const describeTheTarget: Describe<DeploymentTarget> = (scope, target) =>
  describeTarget(targetWorld(readerOf(scope), target));

/**
 * Without access to all kinds that rules are translated from, only the rule's status is shown: the rest would be wrong.
 */
const describeTheRule: Describe<RoutingRule> = (scope, rule) => {
  const isWhole = mayReadAll(
    scope,
    [RoutingRule, Mesh, MeshGroup, Upstream, Pod, Service].map((kind) => [kind, undefined]),
  );
  const read = readerOf(scope);
  if (isWhole) return describeRule(read, rule);
  const tree = node(RoutingRule.kind, keyOf(rule.metadata), stateOf(rule), { reasons: problemsOf(rule) });
  return { tree, events: recentEvents(eventsAbout(read, rule)) };
};

const OBJECTS = {
  claim: { kind: DeploymentTargetClaim, describe: describeTheClaim as Describe<KubeObject>, command: 'claim' },
  target: { kind: DeploymentTarget, describe: describeTheTarget as Describe<KubeObject>, command: 'target' },
  rule: { kind: RoutingRule, describe: describeTheRule as Describe<KubeObject>, command: 'routing' },
} as const;

/** A claim, a target or a rule in detail; undefined if it does not exist. */
export function objectDetail(scope: Scope, type: keyof typeof OBJECTS, ref: Ref): ObjectDetail | undefined {
  const { kind, describe, command } = OBJECTS[type];
  const object = scope.facts.get<KubeObject>(kind, ref);
  const row = rowIn(scope, type, ref);
  if (object === undefined || row === undefined) return undefined;
  const { tree, events } = describe(scope, object);
  const { name, namespace } = ref;
  return {
    type,
    row,
    sentence: objectSentence(row),
    tree,
    events,
    conditions: conditionsOf(object),
    yaml: yamlOf(object),
    commands: [
      `offshoot ${command} describe ${name} -n ${namespace}`,
      `kubectl get ${kind.plural}.${kind.group} ${name} -n ${namespace} -o yaml`,
    ],
  };
}

export function meshDetail(scope: Scope): MeshDetail {
  const { resources, versions, events } = describeMesh(meshWorld(readerOf(scope)), { pods: true });
  const [first] = resources;
  const lines = versionLines(versions);
  return {
    type: 'mesh',
    sentence: meshSentence(first, lines, scope.may('list', Istio, undefined)),
    versions: lines,
    trees: resources,
    events,
    commands: ['offshoot mesh status', 'offshoot mesh plan', 'offshoot mesh upgrade --help'],
  };
}

function meshSentence(first: TreeNode | undefined, lines: readonly string[], seesAll: boolean): string {
  if (first === undefined && !seesAll) return 'There is no Istio resource that you may read.';
  if (first === undefined) return `There is no Istio resource, so the mesh is not managed: ${lines[0] ?? ''}`;
  const [reason] = first.reasons ?? [];
  return `${lines[0] ?? ''} \`${first.name}\` is ${first.state}${reason === undefined ? '' : `: ${reason}`}.`.replace(
    /\.\.$/,
    '.',
  );
}

/** An object as YAML, without managed fields. */
function yamlOf(object: KubeObject): string {
  const { managedFields: _managed, ...metadata } = object.metadata;
  return stringify({ ...object, metadata }, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}
