// Random objects and patches for comparison with other implementations; the same seed gives the same cases.
import type { JsonObject } from '../json.ts';

export type Kind = 'Pod' | 'Deployment' | 'Service';

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** An integer from 0 to below the limit. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** Some of the choices, in random order, each at most once. */
  some<T>(choices: readonly T[]): T[] {
    const shuffled = choices
      .map((choice) => ({ choice, rank: this.below(1_000_000) }))
      .sort((left, right) => left.rank - right.rank)
      .map(({ choice }) => choice);
    return shuffled.slice(0, this.below(choices.length + 1));
  }

  /** An object with some of these fields. */
  fields(makers: Record<string, () => unknown>, percent = 50): JsonObject {
    return Object.fromEntries(
      Object.entries(makers)
        .filter(() => this.chance(percent))
        .map(([key, make]) => [key, make()]),
    );
  }
}

const WORDS = ['a', 'b', 'c', 'd'];

function stringMap(random: Random): JsonObject {
  return Object.fromEntries(random.some(WORDS).map((word) => [word, random.pick(['x', 'y', 'z'])]));
}

function metadata(random: Random): JsonObject {
  return random.fields({
    labels: () => stringMap(random),
    annotations: () => stringMap(random),
    finalizers: () => random.some(['f/a', 'f/b', 'f/c']),
    ownerReferences: () =>
      random.some(['u1', 'u2']).map((uid) => ({ apiVersion: 'v1', kind: 'X', name: random.pick(WORDS), uid })),
  });
}

function container(random: Random, name: string): JsonObject {
  return {
    name,
    ...random.fields({
      image: () => random.pick(['i:1', 'i:2', 'i:3']),
      args: () => random.some(['-x', '-y', '-z']),
      env: () => random.some(WORDS).map((word) => ({ name: word, value: random.pick(['1', '2']) })),
      ports: () =>
        random.some([80, 81, 443]).map((number) => ({
          containerPort: number,
          protocol: 'TCP',
          ...random.fields({ name: () => random.pick(['p1', 'p2']) }),
        })),
      volumeMounts: () =>
        random.some(['/a', '/b', '/c']).map((mountPath) => ({ mountPath, name: random.pick(['v1', 'v2']) })),
      resources: () => random.fields({ limits: () => ({ cpu: random.pick(['1', '2']) }) }, 80),
    }),
  };
}

function podSpec(random: Random): JsonObject {
  return {
    containers: random.some(['web', 'side', 'log']).map((name) => container(random, name)),
    ...random.fields({
      initContainers: () => random.some(['init', 'seed']).map((name) => container(random, name)),
      volumes: () =>
        random.some(['v1', 'v2', 'v3']).map((name) => ({
          name,
          ...(random.chance(50) ? { emptyDir: { medium: 'Memory' } } : { hostPath: { path: '/x' } }),
        })),
      hostAliases: () => random.some(['1.1.1.1', '2.2.2.2']).map((ip) => ({ ip, hostnames: random.some(WORDS) })),
      imagePullSecrets: () => random.some(WORDS).map((name) => ({ name })),
      tolerations: () => random.some(WORDS).map((key) => ({ key, operator: 'Exists' })),
      nodeSelector: () => stringMap(random),
      restartPolicy: () => random.pick(['Always', 'Never']),
    }),
  };
}

function spec(random: Random, kind: Kind): JsonObject {
  if (kind === 'Pod') return podSpec(random);
  if (kind === 'Service') {
    return random.fields({
      ports: () =>
        random.some([80, 81, 443]).map((port) => ({ port, protocol: 'TCP', ...random.fields({ name: () => random.pick(WORDS) }) })),
      selector: () => stringMap(random),
      externalIPs: () => random.some(['1.1.1.1', '2.2.2.2', '3.3.3.3']),
      type: () => random.pick(['ClusterIP', 'NodePort']),
    });
  }
  return {
    ...random.fields({
      replicas: () => random.below(4),
      paused: () => random.chance(50),
      strategy: () =>
        random.chance(50) ? { type: 'Recreate' } : { type: 'RollingUpdate', rollingUpdate: { maxSurge: random.below(3) } },
      selector: () => ({ matchLabels: stringMap(random) }),
    }),
    template: { metadata: metadata(random), spec: podSpec(random) },
  };
}

export const API_VERSION: Record<Kind, string> = { Pod: 'v1', Service: 'v1', Deployment: 'apps/v1' };

/** A random object of one kind. */
export function randomObject(random: Random, kind: Kind): JsonObject {
  return {
    apiVersion: API_VERSION[kind],
    kind,
    metadata: { name: 'x', ...metadata(random) },
    spec: spec(random, kind),
  };
}

/** Turns a random object into a strategic merge patch with nulls, `$patch` markers and other directives. */
export function randomStrategicPatch(random: Random, kind: Kind): JsonObject {
  const { metadata: meta, spec: newSpec } = randomObject(random, kind);
  return { metadata: withDirectives(random, meta), spec: withDirectives(random, newSpec) };
}

const MERGE_KEYS: Record<string, string> = {
  containers: 'name',
  initContainers: 'name',
  volumes: 'name',
  env: 'name',
  imagePullSecrets: 'name',
  volumeMounts: 'mountPath',
  hostAliases: 'ip',
  ownerReferences: 'uid',
};
const NEVER_NULL = new Set(['metadata', 'spec', 'template', 'port', 'containerPort', ...Object.values(MERGE_KEYS)]);

function withDirectives(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const result: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(value)) {
    if (!NEVER_NULL.has(key) && random.chance(12)) {
      result[key] = null;
      continue;
    }
    result[key] = part;
    if (Array.isArray(part)) addListDirectives(random, result, key, part);
    else result[key] = withDirectives(random, part);
  }
  if (random.chance(3)) result['$patch'] = random.pick(['replace', 'delete']);
  if ('type' in result && random.chance(40)) result['$retainKeys'] = Object.keys(result).filter((key) => !key.startsWith('$'));
  return result;
}

function addListDirectives(random: Random, target: Record<string, unknown>, key: string, list: readonly unknown[]): void {
  const mergeKey = MERGE_KEYS[key] ?? (key === 'ports' ? portKey(list) : undefined);
  if (mergeKey === undefined) {
    if (key !== 'finalizers') return;
    if (random.chance(40)) target[`$deleteFromPrimitiveList/${key}`] = random.some(['f/a', 'f/b', 'f/c']).filter((item) => !list.includes(item));
    if (random.chance(40) && list.length > 0) target[`$setElementOrder/${key}`] = [...list];
    return;
  }
  const items = list.map((item) => {
    const object = item as JsonObject;
    return random.chance(12) ? { [mergeKey]: object[mergeKey], $patch: 'delete' } : (withDirectives(random, item) as JsonObject);
  });
  if (random.chance(4)) items.unshift({ $patch: 'replace' });
  target[key] = items;
  if (random.chance(40) && items.length > 0) {
    const order = (list as JsonObject[]).map((item) => ({ [mergeKey]: item[mergeKey] }));
    if (random.chance(5)) order.reverse();
    target[`$setElementOrder/${key}`] = order;
  }
}

function portKey(list: readonly unknown[]): string {
  return 'containerPort' in ((list[0] as JsonObject | undefined) ?? {}) ? 'containerPort' : 'port';
}

/** A random JSON patch of paths that may or may not exist. */
export function randomJsonPatch(random: Random): JsonObject[] {
  const paths = [
    '/metadata/labels',
    '/metadata/labels/a',
    '/metadata/finalizers/0',
    '/metadata/finalizers/-',
    '/metadata/finalizers/-1',
    '/metadata/annotations/b',
    '/spec/containers/0',
    '/spec/containers/0/image',
    '/spec/containers/1/args/0',
    '/spec/replicas',
    '/spec/ports/0/name',
    '/spec/template/spec/containers/-',
  ];
  return random.some([1, 2, 3]).map(() => {
    const op = random.pick(['add', 'remove', 'replace', 'move', 'copy', 'test']);
    const path = random.pick(paths);
    if (op === 'remove') return { op, path };
    if (op === 'move' || op === 'copy') return { op, from: random.pick(paths), path };
    return { op, path, value: path.includes('labels') && !path.endsWith('a') ? { a: 'q' } : path.endsWith('replicas') ? 3 : 'x' };
  });
}

/** A random merge patch: a random object with some nulls in it. */
export function randomMergePatch(random: Random, kind: Kind): JsonObject {
  const nulls = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [key, depth > 1 && random.chance(20) ? null : nulls(part, depth + 1)]),
    );
  };
  const { metadata: meta, spec: newSpec } = randomObject(random, kind);
  return nulls({ metadata: meta, spec: newSpec }, 0) as JsonObject;
}
