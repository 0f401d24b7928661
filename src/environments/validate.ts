// The rules that an environment must hold to be admitted. Pure: what must be looked up comes in as facts. The webhook
// asks it for every write, and the command line without a cluster.
//
// Texts and paths, typos and swapped numbers included, are those that people and their tools know; so is the order,
// for the first rule that is broken ends the check. Rules of our own come after them.
import type { ContainerOverrides, DynamicEnv, Subset } from '../api/dynamicenv.ts';
import { keyOf } from '../kube/objects.ts';
import type { Ref } from '../kube/objects.ts';
import type { Status } from '../kube/errors.ts';
import { messages } from './messages.ts';
import { statusKey, uniqueVersion } from './names.ts';
import { quote, quoteSpec } from './quote.ts';

export type Verdict = { readonly allowed: true } | { readonly allowed: false; readonly status: Status };

/** What the rules can't see in the object itself. */
export interface Facts {
  /** Other environments whose unique version is the same. */
  readonly namesakes?: readonly Ref[];
  /** Who asks, and where they may not create Deployments. */
  readonly requester?: { readonly name: string; readonly mayNotDeployIn: readonly string[] };
}

const ALLOWED: Verdict = { allowed: true };

/** Whether an environment may be created. */
export function validateCreate(env: DynamicEnv, facts: Facts = {}): Verdict {
  if (env.metadata.deletionTimestamp !== undefined) return ALLOWED;
  return verdict(
    () => someMatch(env),
    () => soundSubsets(env),
    () => oneFormPerHeader(env),
    () => ownName(env, facts.namesakes ?? []),
    () => permitted(foreignItems(env), facts),
  );
}

/** Whether an environment may be changed. One that is being deleted always may: its finalizers have to go. */
export function validateUpdate(old: DynamicEnv, env: DynamicEnv, facts: Facts = {}): Verdict {
  if (env.metadata.deletionTimestamp !== undefined) return ALLOWED;
  return verdict(
    () => sameMatches(old, env),
    () => soundSubsets(env),
    () => sameContainers(old, env),
    () => permitted(foreignItems(env, old), facts),
  );
}

/** Namespaces, other than its own, in which an environment would newly run or change something. */
export function foreignNamespaces(env: DynamicEnv, old?: DynamicEnv): readonly string[] {
  return [...new Set(foreignItems(env, old).map(({ namespace }) => namespace))];
}

function verdict(...rules: readonly (() => Status | undefined)[]): Verdict {
  for (const rule of rules) {
    const status = rule();
    if (status !== undefined) return { allowed: false, status };
  }
  return ALLOWED;
}

function denied(message: string): Status {
  return { code: 403, reason: 'Forbidden', message };
}

function invalid(path: string, value: string, detail: string): Status {
  return denied(`${path}: Invalid value: ${value}: ${detail}`);
}

function itemsOf(env: DynamicEnv): readonly Subset[] {
  return [...(env.spec?.subsets ?? []), ...(env.spec?.consumers ?? [])];
}

function someMatch({ spec }: DynamicEnv): Status | undefined {
  const matches = spec?.istioMatches ?? [];
  const isEmpty = (map: object | undefined | null): boolean => Object.keys(map ?? {}).length === 0;
  if (matches.length > 0 && !matches.some((match) => isEmpty(match.headers) && isEmpty(match.sourceLabels))) return;
  return invalid('spec', quote.istioMatches(spec?.istioMatches), 'empty IstioMatch is invalid for DynamicEnv');
}

function sameMatches(old: DynamicEnv, env: DynamicEnv): Status | undefined {
  const matches = quote.istioMatches(env.spec?.istioMatches);
  if (quote.istioMatches(old.spec?.istioMatches) === matches) return;
  return invalid('spec', matches, 'spec.istioMatch field is immutable');
}

function soundSubsets(env: DynamicEnv): Status | undefined {
  const items = itemsOf(env);
  for (const item of items) {
    const { name, replicas, containers = [], initContainers = [] } = item;
    if (replicas === 0) return invalid('spec', quoteSpec(env.spec), "It's illegal to use 0 replicas!");
    if (containers.length === 0 && initContainers.length === 0) {
      const detail = 'At least a single container or init-container must be specified';
      return invalid(`spec[${name}]`, quote.subset(item), detail);
    }
    const detail = 'It seems that not all container names are unique';
    if (!uniqueNames(containers)) return invalid(containersPath(name), quote.containers(containers), detail);
    if (!uniqueNames(initContainers)) return invalid(initPath(name), quote.containers(initContainers), detail);
  }
  const keys = items.map(statusKey);
  const twice = keys.find((key, index) => keys.indexOf(key) < index);
  if (twice === undefined) return;
  const detail = `It seems that the following deployment appears in more then one subset/consumer: ${twice}`;
  return invalid('spec', quoteSpec(env.spec), detail);
}

function uniqueNames(containers: readonly ContainerOverrides[]): boolean {
  return new Set(containers.map(({ containerName }) => containerName)).size === containers.length;
}

function containersPath(item: string): string {
  return `spec.Subsets[${item}].Containers`;
}

function initPath(item: string): string {
  return `spec.Subsets[${item}].initContainers`;
}

/** Each header has exactly one of exact, prefix and regex; all headers that have not are named. */
function oneFormPerHeader({ metadata, spec }: DynamicEnv): Status | undefined {
  const causes = (spec?.istioMatches ?? []).flatMap(({ headers }) =>
    Object.entries(headers ?? {}).flatMap(([header, { exact, prefix, regex }]) => {
      const found = [exact, prefix, regex].filter((form) => form !== undefined && form !== '').length;
      if (found === 1) return [];
      const field = `spec.istioMatch.headers.${header}`;
      const detail = `${field} must validate one and only one schema (oneOf). Found ${found} valid alternatives`;
      return [{ reason: 'FieldValueInvalid', message: `Invalid value: "header": ${detail}`, field }];
    }),
  );
  if (causes.length === 0) return;
  const [group, kind, { name }] = ['dynamicenv.riskified.com', 'DynamicEnv', metadata];
  const texts = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const all = texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
  return {
    status: 'Failure',
    code: 422,
    reason: 'Invalid',
    message: `${kind}.${group} ${JSON.stringify(name)} is invalid: ${all}`,
    details: { name, group, kind, causes },
  };
}

/** What stays of the old environment keeps its containers and its default version. */
function sameContainers(old: DynamicEnv, env: DynamicEnv): Status | undefined {
  const items = itemsOf(env);
  for (const before of itemsOf(old)) {
    const item = items.find((each) => statusKey(each) === statusKey(before));
    if (item === undefined) continue;
    const containers = lostContainer(before.containers, item.containers);
    if (containers !== undefined) {
      return invalid(containersPath(item.name), quote.containers(item.containers), containers);
    }
    const init = lostContainer(before.initContainers, item.initContainers);
    if (init !== undefined) return invalid(initPath(item.name), quote.containers(item.initContainers), init);
    const [from, to] = [before.defaultVersion ?? '', item.defaultVersion ?? ''];
    if (from === to) continue;
    const detail = `Changing default-version is not supported (modified '${from}' to '${to}')`;
    return invalid('spec.Subsets', quote.subsets(items), detail);
  }
  return undefined;
}

function lostContainer(
  before: readonly ContainerOverrides[] = [],
  after: readonly ContainerOverrides[] = [],
): string | undefined {
  const text = "couldn't find matching container to existing container: ";
  if (before.length !== after.length) {
    // The numbers stand in each other's place: that is how the text is known.
    return `${text}number of new containers (${before.length}) does not match the number of old containers (${after.length})`;
  }
  const lost = before.find(({ containerName: name }) => !after.some(({ containerName }) => containerName === name));
  return lost && `${text}${lost.containerName}`;
}

/** Why the unique version of an environment can be neither a label value nor the name of a subset; undefined when it can. */
function versionProblem(env: Ref): string | undefined {
  const version = uniqueVersion(env);
  if (/^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$/.test(version)) return undefined;
  return `"${version}", made from namespace and name, is not a valid subset name: choose a name of letters, digits and hyphens that does not break at its 40th character`;
}

/** The names that an environment gives are valid, and not those of another one. */
function ownName(env: DynamicEnv, namesakes: readonly Ref[]): Status | undefined {
  const name = JSON.stringify(env.metadata.name);
  const problem = versionProblem(env.metadata);
  if (problem !== undefined) return invalid('metadata.name', name, problem);
  const key = keyOf(env.metadata);
  const other = namesakes.find((each) => keyOf(each) !== key);
  if (other === undefined) return;
  return invalid('metadata.name', name, messages.collision(keyOf(other), key, uniqueVersion(env.metadata)));
}

interface ForeignItem {
  readonly path: string;
  readonly namespace: string;
}

/** Subsets and consumers in other namespaces; with the old environment, only those that are new or not what they were. */
function foreignItems(env: DynamicEnv, old?: DynamicEnv): readonly ForeignItem[] {
  return (['subsets', 'consumers'] as const).flatMap((list) => {
    const before = new Set((old?.spec?.[list] ?? []).map(quote.subset));
    return (env.spec?.[list] ?? []).flatMap((item, index) => {
      const { namespace } = item;
      if (namespace === env.metadata.namespace || before.has(quote.subset(item))) return [];
      return [{ path: `spec.${list}[${index}].namespace`, namespace }];
    });
  });
}

/** Nobody runs something through an environment where they could not run it themselves. */
function permitted(items: readonly ForeignItem[], { requester }: Facts): Status | undefined {
  const item = items.find(({ namespace }) => requester?.mayNotDeployIn.includes(namespace));
  if (requester === undefined || item === undefined) return;
  const { path, namespace } = item;
  return denied(
    `${path}: Forbidden: user ${JSON.stringify(requester.name)} cannot create resource "deployments" in API group "apps" in the namespace ${JSON.stringify(namespace)}, and an environment there would run on that right: ask for it, or name Deployments of the environment's own namespace`,
  );
}
