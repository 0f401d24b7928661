// All that is shown of one object: its sentence, its tree with conditions and Events, its YAML, the commands about it.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { TreeNode } from '../../api/description/tree.ts';
import type { RecentEvent } from '../../api/description/events.ts';
import { RoutingRule } from '../../api/routing.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { conditionsOf } from '../../controller/index.ts';
import type { Facts } from '../../controller/index.ts';
import { defaultSettings, describeEnvironment, environmentWorld, proveEnvironment } from '../../environments/index.ts';
import type { KubeObject, Ref } from '../../kube/index.ts';
import { stringify } from '../../kube/yaml.ts';
import { describeMesh, meshWorld, versionLines } from '../../mesh/index.ts';
import { describeRule } from '../../routing/index.ts';
import { claimWorld, describeClaim, describeTarget, targetWorld } from '../../targets/index.ts';
import type { EnvironmentDetail, MeshDetail, ObjectDetail } from '../data.ts';
import { environmentSentence, objectSentence } from '../sentences.ts';
import { lifeOf } from './life.ts';
import { environmentPicture } from './picture.ts';
import { readerOf } from './reader.ts';
import type { MayRead } from './reader.ts';
import { environmentRow, rowKey, rows } from './rows.ts';
import { triedOf } from './tried.ts';

/** An environment; undefined where there is none. */
export function environmentDetail(facts: Facts, ref: Ref, mayRead: MayRead): EnvironmentDetail | undefined {
  const env = facts.get(DynamicEnv, ref);
  if (env === undefined) return undefined;
  const world = environmentWorld(readerOf(facts, mayRead), env);
  const { environment: tree, call, events } = describeEnvironment(world);
  const row = environmentRow(facts, env);
  const [firstRule] = [...world.rules.values()].map(({ metadata }) => metadata.creationTimestamp ?? '').sort();
  const { counterexample } = proveEnvironment(facts, ref, defaultSettings) ?? {};
  const { name, namespace } = ref;
  return {
    type: 'environment',
    ...(counterexample && { counterexample: triedOf(counterexample.request) }),
    row,
    sentence: environmentSentence(row),
    tree,
    events,
    conditions: conditionsOf(env),
    yaml: yamlOf(env),
    calls: call,
    life: lifeOf(env, firstRule),
    picture: environmentPicture(facts, env),
    commands: [
      `offshoot env describe ${name} -n ${namespace}`,
      `offshoot prove ${name} -n ${namespace}`,
      `kubectl get dynamicenv ${name} -n ${namespace} -o yaml`,
      `offshoot env delete ${name} -n ${namespace}`,
    ],
  };
}

/** Tells of an object of one of the other kinds. */
type Describe<T> = (facts: Facts, object: T, mayRead: MayRead) => { tree: TreeNode; events: readonly RecentEvent[] };

const describeTheClaim: Describe<DeploymentTargetClaim> = (facts, claim, mayRead) =>
  describeClaim(claimWorld(readerOf(facts, mayRead), claim));
const describeTheTarget: Describe<DeploymentTarget> = (facts, target, mayRead) =>
  describeTarget(targetWorld(readerOf(facts, mayRead), target));
const describeTheRule: Describe<RoutingRule> = (facts, rule, mayRead) => describeRule(readerOf(facts, mayRead), rule);

const OBJECTS = {
  claim: { kind: DeploymentTargetClaim, describe: describeTheClaim as Describe<KubeObject>, command: 'claim' },
  target: { kind: DeploymentTarget, describe: describeTheTarget as Describe<KubeObject>, command: 'target' },
  rule: { kind: RoutingRule, describe: describeTheRule as Describe<KubeObject>, command: 'routing' },
} as const;

/** A claim, a target or a rule; undefined where there is none. */
export function objectDetail(
  facts: Facts,
  type: keyof typeof OBJECTS,
  ref: Ref,
  mayRead: MayRead,
): ObjectDetail | undefined {
  const { kind, describe, command } = OBJECTS[type];
  const object = facts.get<KubeObject>(kind, ref);
  const row = facts.read.get(facts.model(rows), rowKey(type, ref));
  if (object === undefined || row === undefined) return undefined;
  const { tree, events } = describe(facts, object, mayRead);
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

/** The mesh. */
export function meshDetail(facts: Facts, mayRead: MayRead): MeshDetail {
  const { resources, versions, events } = describeMesh(meshWorld(readerOf(facts, mayRead)), { pods: true });
  const [first] = resources;
  const lines = versionLines(versions);
  return {
    type: 'mesh',
    sentence: meshSentence(first, lines),
    versions: lines,
    trees: resources,
    events,
    commands: ['offshoot mesh status', 'offshoot mesh plan', 'offshoot mesh upgrade --help'],
  };
}

function meshSentence(first: TreeNode | undefined, lines: readonly string[]): string {
  if (first === undefined) return `No Istio resource is here, so nobody looks after the mesh: ${lines[0] ?? ''}`;
  const [reason] = first.reasons ?? [];
  return `${lines[0] ?? ''} \`${first.name}\` is ${first.state}${reason === undefined ? '' : `: ${reason}`}.`.replace(
    /\.\.$/,
    '.',
  );
}

/** An object as people apply it. */
function yamlOf(object: KubeObject): string {
  const { managedFields: _managed, ...metadata } = object.metadata;
  return stringify({ ...object, metadata }, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}
