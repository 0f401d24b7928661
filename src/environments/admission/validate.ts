// The admission rules for environments. Pure: what must be looked up is passed in as facts. The webhook calls them for
// every write, and the command line without a cluster.
//
// Messages and paths are contract, typos and swapped numbers included. So is the order: only the first broken rule is
// reported. Our own rules come last.
import { KEY_FORM, MAX_KEY_LENGTH } from '../../api/dynamicenv.ts';
import type { ContainerOverrides, DynamicEnv } from '../../api/dynamicenv.ts';
import { keyOf } from '../../kube/objects.ts';
import type { Ref } from '../../kube/objects.ts';
import { lifetimeProblem } from '../lifecycle/ttl.ts';
import { messages } from '../status/messages.ts';
import { requiredPermissions, missingPermission } from './authority.ts';
import type { Requester } from './authority.ts';
import { MATCHES, oneFormPerHeader, soundHeaders, soundSourceLabels } from './matches.ts';
import { overrideProblem } from './overrides.ts';
import { changedItems, pathOf, placedItems } from './placed-items.ts';
import type { PlacedItem } from './placed-items.ts';
import { denied, invalid } from './refusal.ts';
import type { Refusal } from './refusal.ts';
import { clonesOf, statusKey, uniqueVersion } from '../names.ts';
import { formatSpec, formatValue } from './invalid-value.ts';

/** The result of the rules. */
export type Verdict = { readonly allowed: true } | ({ readonly allowed: false } & Refusal);

/** What the rules need beside the object itself. */
export interface Facts {
  /** Other environments with the same version. */
  readonly namesakes?: readonly Ref[];
  /** Other environments that make a clone, by its namespace and name. */
  readonly makersOf?: (clone: string) => readonly Ref[];
  readonly requester?: Requester;
}

const ALLOWED: Verdict = { allowed: true };

/** Whether an environment may be created. */
export function validateCreate(env: DynamicEnv, facts: Facts = {}): Verdict {
  if (env.metadata.deletionTimestamp !== undefined) return ALLOWED;
  return verdict(
    () => someMatch(env),
    () => soundSubsets(env),
    () => oneFormPerHeader(env),
    () => soundHeaders(env),
    () => soundSourceLabels(env),
    () => soundOverrides(placedItems(env)),
    () => soundKey(env),
    () => soundLifetime(env),
    () => ownName(env, facts.namesakes ?? []),
    () => notAClone(env, placedItems(env), facts),
    () => permitted(env, undefined, facts),
  );
}

/** Whether an environment may be changed. One that is being deleted always may: its finalizers have to be removed. */
export function validateUpdate(old: DynamicEnv, env: DynamicEnv, facts: Facts = {}): Verdict {
  if (env.metadata.deletionTimestamp !== undefined) return ALLOWED;
  return verdict(
    () => sameMatches(old, env),
    () => soundSubsets(env),
    () => sameContainers(old, env),
    // Invalid values that are already stored must not block other changes.
    () => soundOverrides(changedItems(env, old)),
    () => (lifetimeProblem(old) === undefined ? soundLifetime(env) : undefined),
    () => notAClone(env, newItems(old, env), facts),
    () => permitted(env, old, facts),
  );
}

function verdict(...rules: readonly (() => Refusal | undefined)[]): Verdict {
  for (const rule of rules) {
    const refusal = rule();
    if (refusal !== undefined) return { allowed: false, ...refusal };
  }
  return ALLOWED;
}

function someMatch({ spec }: DynamicEnv): Refusal | undefined {
  const matches = spec?.istioMatches ?? [];
  const isEmpty = (map: object | undefined | null): boolean => Object.keys(map ?? {}).length === 0;
  const isSome = matches.length > 0 || Boolean(spec?.key);
  if (isSome && !matches.some((match) => isEmpty(match.headers) && isEmpty(match.sourceLabels))) return undefined;
  return invalid(
    MATCHES,
    'spec',
    formatValue.istioMatches(spec?.istioMatches),
    'empty IstioMatch is invalid for DynamicEnv',
  );
}

const KEY = ['spec', 'key'];

/** The key becomes part of a regular expression, and clients send it unescaped. */
function soundKey({ spec }: DynamicEnv): Refusal | undefined {
  const { key = 'none' } = spec ?? {};
  if (KEY_FORM.test(key) && key.length <= MAX_KEY_LENGTH) return undefined;
  const detail = `it must be at most ${MAX_KEY_LENGTH} letters, digits, ".", "_" and "-", and begin and end with a letter or digit`;
  return invalid(KEY, 'spec.key', JSON.stringify(key), detail);
}

const ANOTHER = ': make another environment';

function sameMatches(old: DynamicEnv, env: DynamicEnv): Refusal | undefined {
  const matches = formatValue.istioMatches(env.spec?.istioMatches ?? []);
  if (formatValue.istioMatches(old.spec?.istioMatches ?? []) !== matches) {
    return invalid(MATCHES, 'spec', matches, `spec.istioMatch field is immutable${ANOTHER}`);
  }
  const { key } = env.spec ?? {};
  if (key === old.spec?.key) return undefined;
  return invalid(KEY, 'spec.key', JSON.stringify(key ?? null), `spec.key field is immutable${ANOTHER}`);
}

function soundSubsets(env: DynamicEnv): Refusal | undefined {
  const items = placedItems(env);
  for (const { item, at } of items) {
    const { name, replicas, containers = [], initContainers = [] } = item;
    if (replicas === 0) {
      return invalid([...at, 'replicas'], 'spec', formatSpec(env.spec), "It's illegal to use 0 replicas!");
    }
    if (containers.length === 0 && initContainers.length === 0) {
      const detail = 'At least a single container or init-container must be specified';
      return invalid(at, `spec[${name}]`, formatValue.subset(item), detail);
    }
    const detail = 'It seems that not all container names are unique';
    if (!uniqueNames(containers)) {
      return invalid([...at, 'containers'], containersPath(name), formatValue.containers(containers), detail);
    }
    if (!uniqueNames(initContainers)) {
      return invalid([...at, 'initContainers'], initPath(name), formatValue.containers(initContainers), detail);
    }
  }
  const keys = items.map(({ item }) => statusKey(item));
  const second = keys.findIndex((key, index) => keys.indexOf(key) < index);
  if (second < 0) return undefined;
  return invalid(items[second]!.at, 'spec', formatSpec(env.spec), messages.duplicate(keys[second]!));
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

/** Refuses what the API server would reject in a clone, or the kubelet could not start. */
function soundOverrides(items: readonly PlacedItem[]): Refusal | undefined {
  for (const item of items) {
    const problem = overrideProblem(item);
    if (problem === undefined) continue;
    const { at, value, detail } = problem;
    return invalid(at, pathOf(at), JSON.stringify(value), detail);
  }
  return undefined;
}

function soundLifetime(env: DynamicEnv): Refusal | undefined {
  const problem = lifetimeProblem(env);
  if (problem === undefined) return undefined;
  const { at, path, value, detail } = problem;
  return invalid(at, path, JSON.stringify(value), detail);
}

/** Subsets and consumers of the old environment keep their containers and their default version. */
function sameContainers(old: DynamicEnv, env: DynamicEnv): Refusal | undefined {
  const items = placedItems(env);
  for (const { item: before } of placedItems(old)) {
    const found = items.find(({ item: each }) => statusKey(each) === statusKey(before));
    if (found === undefined) continue;
    const { item, at } = found;
    const { name, containers, initContainers } = item;
    const lost = lostContainer(before.containers, containers);
    if (lost !== undefined) {
      return invalid([...at, 'containers'], containersPath(name), formatValue.containers(containers), lost);
    }
    const lostInit = lostContainer(before.initContainers, initContainers);
    if (lostInit !== undefined) {
      return invalid([...at, 'initContainers'], initPath(name), formatValue.containers(initContainers), lostInit);
    }
    const [from, to] = [before.defaultVersion ?? '', item.defaultVersion ?? ''];
    if (from === to) continue;
    const detail = `Changing default-version is not supported (modified '${from}' to '${to}')`;
    return invalid(
      [...at, 'defaultVersion'],
      'spec.Subsets',
      formatValue.subsets(items.map((each) => each.item)),
      detail,
    );
  }
  return undefined;
}

function lostContainer(
  before: readonly ContainerOverrides[] = [],
  after: readonly ContainerOverrides[] = [],
): string | undefined {
  const text = "couldn't find matching container to existing container: ";
  if (before.length !== after.length) {
    // The numbers are swapped: the message is contract.
    return `${text}number of new containers (${before.length}) does not match the number of old containers (${after.length})`;
  }
  const lost = before.find(({ containerName: name }) => !after.some(({ containerName }) => containerName === name));
  return lost && `${text}${lost.containerName}`;
}

const NAME = ['metadata', 'name'];

/** The names of the objects of an environment must be valid, and not those of another one. */
function ownName(env: DynamicEnv, namesakes: readonly Ref[]): Refusal | undefined {
  const name = JSON.stringify(env.metadata.name);
  const version = uniqueVersion(env.metadata);
  // The version becomes a label value and the name of a subset, which has no dots.
  if (!/^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$/.test(version)) {
    return invalid(NAME, 'metadata.name', name, messages.invalidName(version));
  }
  const key = keyOf(env.metadata);
  const other = namesakes.find((each) => keyOf(each) !== key);
  if (other === undefined) return undefined;
  return invalid(NAME, 'metadata.name', name, messages.collision(keyOf(other), key, version));
}

/** Subsets and consumers whose Deployment is new in the environment. */
function newItems(old: DynamicEnv, env: DynamicEnv): readonly PlacedItem[] {
  const before = new Set(placedItems(old).map(({ item }) => statusKey(item)));
  return placedItems(env).filter(({ item }) => !before.has(statusKey(item)));
}

/** A clone is deleted with its environment, so it can't be the base of another one. */
function notAClone(env: DynamicEnv, items: readonly PlacedItem[], { makersOf }: Facts): Refusal | undefined {
  const own = clonesOf(env);
  for (const { item, at } of items) {
    const key = statusKey(item);
    const [maker] = own.includes(key) ? [env.metadata] : (makersOf?.(key) ?? []);
    if (maker === undefined) continue;
    const path = `spec.${at[1]}[${at[2]}].name`;
    return invalid([...at, 'name'], path, JSON.stringify(item.name), messages.baseIsClone(key, keyOf(maker)));
  }
  return undefined;
}

/** Nobody may do anything through an environment that they could not do themselves. */
function permitted(env: DynamicEnv, old: DynamicEnv | undefined, { requester }: Facts): Refusal | undefined {
  const refused = missingPermission(requiredPermissions(env, old), requester);
  return refused && denied(refused.at, refused.message);
}
