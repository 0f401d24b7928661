// The rows of all lists, as one derived map: a row is recomputed when an object that it shows changes.
import type { ObjectReader } from '../../api/description/reader.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { Istio } from '../../api/istio.ts';
import { RoutingRule } from '../../api/routing.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { defineModel } from '../../controller/index.ts';
import type { Facts, Model } from '../../controller/index.ts';
import {
  describeEnvironment,
  environmentWorld,
  formatMatches,
  formatRequests,
  ISOLATION,
  isolationOf,
  itemsOf,
  readyCount,
  reasonOf,
  stateOf,
  verdictOf,
} from '../../environments/index.ts';
import type { Settings } from '../../environments/index.ts';
import { matchesOf } from '../../environments/requests/matches.ts';
import { keyOf, refOf } from '../../kube/index.ts';
import type { AnyKind, KubeObject, Ref } from '../../kube/index.ts';
import { stateOf as istioState } from '../../mesh/index.ts';
import { problemsOf as ruleProblems, stateOf as ruleState } from '../../routing/index.ts';
import { claimNameOf, EXPIRES_AT, phaseOf, problemOf, warningsOf } from '../../targets/index.ts';
import { derive } from '../../watchable/index.ts';
import type { DerivedMap } from '../../watchable/index.ts';
import type { ClaimRow, EnvironmentRow, Replacement, Row, RowType, RuleRow, TargetRow, Tone } from '../data.ts';
import { readerOf } from './reader.ts';
import type { May, Resource, Scope } from './scope.ts';
import { mayReadAll } from './visible.ts';

/** The kinds of the rows, by the type of the row. */
export const ROW_KINDS: Readonly<Record<RowType, AnyKind>> = {
  environment: DynamicEnv,
  claim: DeploymentTargetClaim,
  target: DeploymentTarget,
  rule: RoutingRule,
  istio: Istio,
};
const TYPES = Object.keys(ROW_KINDS) as RowType[];

type KeyHeader = Pick<Settings, 'keyHeader'>;

/** The key of a row: `environment shop/pr-7`. */
export const rowKey = (type: RowType, ref: Ref): string => `${type} ${keyOf(ref)}`;

/** A row, and the resources that were read for it in addition to the object itself. */
export interface SharedRow {
  readonly row: Row;
  readonly reads: readonly (Resource & { readonly namespace?: string })[];
}

type Rows = Model<DerivedMap<string, SharedRow>>;

const models = new Map<string, Rows>();

/** All rows by key, for a user who may read everything; `rowFor` restricts a row to what another user may read. */
export function rowsBy(settings: KeyHeader): Rows {
  const { keyHeader } = settings;
  let model = models.get(keyHeader);
  if (model === undefined) {
    model = defineModel((facts) =>
      derive('dashboard rows', (read, key: string) => sharedRow(facts(read), key, { keyHeader }), {
        keys: (read) =>
          TYPES.flatMap((type) =>
            facts(read)
              .keys(ROW_KINDS[type])
              .map((key) => `${type} ${key}`),
          ),
      }),
    );
    models.set(keyHeader, model);
  }
  return model;
}

/** The row as far as the user may read it; undefined if they may not read the object. */
export function rowFor(scope: Scope, { row, reads }: SharedRow): Row | undefined {
  const { facts, may, settings } = scope;
  if (!may('list', ROW_KINDS[row.type], row.namespace)) return undefined;
  const isWhole = mayReadAll(
    scope,
    reads.map((each) => [each, each.namespace]),
  );
  if (isWhole) return row;
  const env = facts.get(DynamicEnv, row);
  return env && environmentRow(readerOf(scope), env, settings);
}

function sharedRow(facts: Facts, key: string, settings: KeyHeader): SharedRow | undefined {
  const [type = '', name = ''] = key.split(' ');
  const object = facts.get<KubeObject>(ROW_KINDS[type as RowType], refOf(name));
  if (object === undefined) return undefined;
  const reads = new Map<string, SharedRow['reads'][number]>();
  const may: May = (_verb, { group, plural }, namespace) => {
    reads.set(`${plural}.${group} ${namespace}`, { group, plural, ...(namespace !== undefined && { namespace }) });
    return true;
  };
  const row = rowOf(readerOf({ facts, may }), type as RowType, object, settings);
  return { row, reads: [...reads.values()] };
}

function rowOf(read: ObjectReader, type: RowType, object: KubeObject, settings: KeyHeader): Row {
  switch (type) {
    case 'environment':
      return environmentRow(read, object as DynamicEnv, settings);
    case 'claim':
      return claimRow(object as DeploymentTargetClaim);
    case 'target':
      return targetRow(object as DeploymentTarget);
    case 'rule':
      return ruleRow(object as RoutingRule);
    case 'istio':
      return {
        ...baseOf(object, istioState(object)),
        type: 'istio',
        ...problem(istioProblem(object)),
      };
  }
}

/** The fields that all kinds have. */
function baseOf(
  { metadata }: KubeObject,
  state: string,
): Pick<Row, 'namespace' | 'name' | 'state' | 'tone' | 'created'> {
  const { namespace = '', name, creationTimestamp: created = '' } = metadata;
  return { namespace, name, state, tone: toneOf(state), created };
}

const problem = (text: string | undefined): { readonly problem?: string } =>
  text === undefined || text === '' ? {} : { problem: text };

/** The row of an environment. It does not read pods: the status set by the controller is enough. */
function environmentRow(read: ObjectReader, env: DynamicEnv, settings: KeyHeader): EnvironmentRow {
  const light: ObjectReader = {
    get: (kind, ref) => read.get(kind, ref),
    list: (kind, where) => (isMany(kind) ? [] : read.list(kind, where)),
  };
  const { call, exceptions } = describeEnvironment(environmentWorld(light, env));
  const verdict = verdictOf(env);
  const isolated = isolationOf(env);
  const base = baseOf(env, stateOf(env));
  return {
    ...base,
    ...(verdict.is === 'stalled' && { tone: 'bad' as const }),
    type: 'environment',
    ready: readyCount(env),
    match: formatRequests(env),
    carries: carriedBy(env, settings),
    requests: requestsOf(env, settings),
    ...(exceptions.length > 0 && { exceptions }),
    ...(call[0] !== undefined && { call: call[0] }),
    replaces: replacements(env),
    ...(env.status?.expiresAt !== undefined && { expires: env.status.expiresAt }),
    ...(isolated && {
      isolation: {
        status: isolated.status,
        word: ISOLATION[isolated.status],
        reason: isolated.reason,
        message: isolated.message,
        lastTransitionTime: isolated.lastTransitionTime,
      },
    }),
    ...problem(reasonOf(env)),
  };
}

/** What the requests of an environment carry: its key as a header, otherwise its matches. */
function carriedBy(env: DynamicEnv, settings: KeyHeader): string {
  const [first, ...others] = env.spec === undefined ? [] : matchesOf(env.spec, settings);
  const headers = Object.entries(first?.headers ?? {});
  const isPlain = env.spec?.key !== undefined ? !env.spec.istioMatches?.length : others.length === 0;
  const [[name, { exact = '' }] = ['', {}]] = headers;
  const isHeader = isPlain && headers.length === 1 && exact !== '' && first?.sourceLabels === undefined;
  return isHeader ? `${name}: ${exact}` : formatRequests(env);
}

/** What these requests carry, for a sentence. A key matches in either of two headers. */
export function requestsOf(env: DynamicEnv, settings: KeyHeader): string {
  const { key, istioMatches = [] } = env.spec ?? {};
  if (!key) return `\`${carriedBy(env, settings)}\``;
  const others = istioMatches.length > 0 ? ` or \`${formatMatches(istioMatches)}\`` : '';
  return `the key \`${key}\` (\`${settings.keyHeader}\` or \`baggage\`)${others}`;
}

function isMany({ plural }: { readonly plural: string }): boolean {
  return plural === 'pods' || plural === 'events';
}

function replacements(env: DynamicEnv): readonly Replacement[] {
  const { subsets, consumers } = itemsOf(env);
  const of = (item: (typeof subsets)[number], isConsumer: boolean): Replacement => ({
    workload: keyOf(item),
    images: [...(item.initContainers ?? []), ...(item.containers ?? [])].flatMap(({ image }) => image ?? []),
    ...(isConsumer && { isConsumer: true as const }),
  });
  return [...subsets.map((each) => of(each, false)), ...consumers.map((each) => of(each, true))];
}

function claimRow(claim: DeploymentTargetClaim): ClaimRow {
  const { spec, metadata } = claim;
  const expires = metadata.annotations?.[EXPIRES_AT];
  return {
    ...baseOf(claim, phaseOf(claim)),
    type: 'claim',
    className: spec.deploymentTargetClassName,
    ...(spec.targetName && { target: spec.targetName }),
    ...(expires !== undefined && { expires }),
    ...problem(problemOf(claim) ?? warningsOf(claim)[0]),
  };
}

function targetRow(target: DeploymentTarget): TargetRow {
  const { apiURL, defaultNamespace } = target.spec.kubernetesCredentials;
  const claim = claimNameOf(target);
  return {
    ...baseOf(target, phaseOf(target)),
    type: 'target',
    place: [defaultNamespace && `namespace ${defaultNamespace}`, apiURL && `at ${apiURL}`].filter(Boolean).join(' '),
    ...(claim !== '' && { claim }),
    ...problem(problemOf(target) ?? warningsOf(target)[0]),
  };
}

function ruleRow(rule: RoutingRule): RuleRow {
  return {
    ...baseOf(rule, ruleState(rule)),
    type: 'rule',
    mesh: rule.spec?.targetMesh?.name ?? '',
    ...problem(ruleProblems(rule)[0]),
  };
}

function istioProblem(istio: Istio): string | undefined {
  return toneOf(istioState(istio)) === 'good' ? undefined : istio.status?.description;
}

const TONES: Readonly<Record<string, Tone>> = {
  ready: 'good',
  bound: 'good',
  available: 'good',
  running: 'good',
  active: 'good',
  degraded: 'bad',
  failed: 'bad',
  error: 'bad',
  warning: 'bad',
  lost: 'bad',
  rejected: 'bad',
  missing: 'bad',
  shadowed: 'bad',
  blocking: 'bad',
  asleep: 'idle',
  paused: 'idle',
  deleting: 'idle',
  released: 'idle',
  absent: 'idle',
  hidden: 'idle',
  gone: 'idle',
};

/** The tone of a state; an unknown state is in progress. */
function toneOf(state: string): Tone {
  return TONES[state.toLowerCase()] ?? 'busy';
}
