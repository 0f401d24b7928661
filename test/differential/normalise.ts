// Replaces the parts of a response that may differ between correct servers: ids, versions, times, generated names, IPs.
import { at } from './path.ts';

type Json = Record<string, unknown>;

/** Normalises the responses of one scenario on one server, and remembers generated names. */
export class Normaliser {
  readonly #generated: Map<string, string>;

  constructor(namespace: string) {
    this.#generated = new Map([[namespace, '<ns>']]);
  }

  normalise(body: unknown): unknown {
    this.#learn(body);
    return this.#value(body, '');
  }

  /** Finds generated names by their `generateName`. */
  #learn(value: unknown): void {
    if (Array.isArray(value)) for (const item of value) this.#learn(item);
    if (typeof value !== 'object' || value === null) return;
    const { metadata } = value as { metadata?: unknown };
    if (typeof metadata === 'object' && metadata !== null) this.#learnName(metadata as Json);
    for (const part of Object.values(value)) this.#learn(part);
  }

  #learnName({ name, generateName, labels }: Json): void {
    const hash =
      (labels as Json | undefined)?.['pod-template-hash'] ?? (labels as Json | undefined)?.['controller-revision-hash'];
    if (typeof hash === 'string') {
      const bare = hash.split('-').at(-1)!;
      this.#generated.set(bare, '<hash>');
    }
    if (typeof name !== 'string' || typeof generateName !== 'string' || !name.startsWith(generateName)) return;
    const suffix = name.slice(generateName.length);
    // Pods of stateful sets have a generateName, but their names are not random.
    if (suffix.length === 5) this.#generated.set(suffix, '<suffix>');
  }

  #value(value: unknown, key: string): unknown {
    if (typeof value === 'string') return this.#text(value, key);
    if (typeof value === 'bigint') return `${value}n`;
    if (key === 'nodePort' || key === 'healthCheckNodePort') return '<port>';
    if (Array.isArray(value)) return this.#list(value, key);
    if (typeof value !== 'object' || value === null) return value;
    const object = value as Json;
    if (object['kind'] === 'Table') return this.#object(withoutAges(object));
    return this.#object(object);
  }

  #object(object: Json): Json {
    return Object.fromEntries(
      Object.entries(object)
        .map(([key, value]) => [this.#text(key, ''), this.#value(value, key)] as const)
        .sort(([one], [other]) => (one < other ? -1 : 1)),
    );
  }

  #list(list: readonly unknown[], key: string): unknown {
    const items = list as readonly Json[];
    // Keyed by name, so that an additional one does not shift all others.
    if (key === 'subresources')
      return this.#object(Object.fromEntries(items.map((item) => [item['subresource'], item])));
    if (key === 'managedFields') {
      const stable = items.filter(({ manager }) => !controllers.has(String(manager)));
      return stable.map(({ time: _time, ...rest }) => this.#object(rest)).sort(byOwner);
    }
    if (key === 'conditions') return items.map((item) => this.#object(item)).sort(byKey('type'));
    // Causes have no fixed order, and a retried patch repeats them.
    if (key === 'causes') return distinct(items.map((item) => this.#object(item))).sort(byKey('field', 'message'));
    return list.map((item) => this.#value(item, key));
  }

  #text(text: string, key: string): string {
    if (key === 'resourceVersion' && text !== '' && text !== '0') return '<version>';
    if (key === 'continue' && text !== '') return '<continue>';
    let result = text
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
      .replaceAll(/\b10\.\d+\.\d+\.\d+\b/g, '<ip>')
      .replaceAll(/\b(offshoot-)?node-1\b/g, '<node>')
      .replaceAll(/https:\/\/kubernetes\.default\.svc(\.cluster\.local)?/g, '<issuer>')
      .replaceAll(/127\.0\.0\.1:\d+/g, '<server>')
      .replaceAll(/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>')
      .replaceAll(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g, '<certificate>')
      .replaceAll(/(replica set|ReplicaSet) "([\w-]+)-[a-z0-9]{8,10}"/g, '$1 "$2-<hash>"')
      .replaceAll(/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-<suffix>')
      .replaceAll(/("resourceVersion\\?":\\?")\d+/g, '$1<version>')
      .replaceAll(/(ResourceVersion in record \()\d+/g, '$1<version>')
      .replaceAll(/(ResourceVersion in precondition: \d+, ResourceVersion in object meta: )\d+/g, '$1<version>');
    for (const [name, placeholder] of this.#generated) result = result.replaceAll(name, placeholder);
    return result;
  }
}

/** When these field managers write is not deterministic. */
const controllers = new Set(['kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-apiserver']);

const byOwner = byKey('manager', 'operation', 'subresource', 'apiVersion');

function byKey(...keys: readonly string[]): (one: Json, other: Json) => number {
  const text = (item: Json): string => JSON.stringify(keys.map((key) => item[key] ?? ''));
  return (one, other) => (text(one) < text(other) ? -1 : 1);
}

function distinct(items: readonly Json[]): Json[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}

/** Masks the ages and durations of a table, which depend on the time of the request. */
function withoutAges(table: Json): Json {
  const columns = (at(table, 'columnDefinitions[*].name') ?? []) as string[];
  const rows = (table['rows'] ?? []) as Json[];
  const aging = new Set(['Age', 'Last Seen', 'First Seen', 'Duration', 'Created At']);
  const masked = (cell: unknown, index: number): unknown =>
    aging.has(columns[index] ?? '') && /^\d+[smhdy]/.test(String(cell)) ? '<age>' : cell;
  return { ...table, rows: rows.map((row) => ({ ...row, cells: ((row['cells'] ?? []) as unknown[]).map(masked) })) };
}
