// A Kubernetes API in memory behind the Client interface: versions, pages at a fixed version, watches with history and
// compaction, merge patches. For tests that inspect and control single requests.
import { setImmediate as turn } from 'node:timers/promises';
import type {
  Client,
  DeleteOptions,
  ListOptions,
  Page,
  Patch,
  RawRequest,
  Selection,
  WatchEvent,
  WatchOptions,
} from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/errors.ts';
import { keyOf } from '../../src/kube/objects.ts';
import type { AnyKind, AnyObject, Kind, KubeObject, Ref } from '../../src/kube/objects.ts';
import { matches, parseFieldSelector, parseSelector } from '../../src/kube/selector.ts';

interface Entry {
  readonly version: number;
  readonly plural: string;
  readonly old?: AnyObject;
  readonly new?: AnyObject;
}

/** One open watch, as the test sees it. */
export interface FakeWatch {
  readonly plural: string;
  readonly options: WatchOptions;
  /** The server ends the stream regularly. */
  close(): void;
  /** The stream breaks, or carries an ERROR event. */
  fail(error: unknown): void;
  bookmark(): void;
}

type Method = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** The error for a response with this code. */
export function apiError(
  code: number,
  reason: string,
  extra: { retryAfterMs?: number; cause?: string } = {},
): ApiError {
  const { retryAfterMs, cause } = extra;
  const details = cause === undefined ? {} : { causes: [{ reason: cause }] };
  return new ApiError(`fake: ${code} ${reason}`, { code, reason, retryAfterMs, status: { code, reason, details } });
}

export class FakeClient implements Client {
  /** Every request, in order. */
  readonly requests: { readonly method: Method; readonly plural: string; readonly options: unknown }[] = [];
  readonly watches = new Set<FakeWatch>();
  /** Discovery responses or errors, by path. Anything else is not found. */
  readonly discovery = new Map<string, unknown>();
  readonly #objects = new Map<string, Map<string, AnyObject>>();
  readonly #history: Entry[] = [];
  readonly #listeners = new Set<(entry: Entry) => void>();
  readonly #snapshots = new Map<number, AnyObject[]>();
  readonly #faults: { readonly method: Method; readonly fault: unknown }[] = [];
  #version = 100;
  #compacted = 0;
  #uids = 0;

  /** Makes the next requests of this method fail with an error, or wait for a function. */
  next(method: Method, ...faults: (ApiError | (() => unknown))[]): void {
    this.#faults.push(...faults.map((fault) => ({ method, fault })));
  }

  /** Compacts the history: older resource versions and continue tokens are expired. */
  compact(): void {
    this.#compacted = this.#version;
    this.#history.length = 0;
    this.#snapshots.clear();
  }

  async get<T extends KubeObject>(kind: Kind<T>, ref: Ref, options?: unknown): Promise<T> {
    await this.#enter('get', kind, options);
    return this.#find(kind, ref) as unknown as T;
  }

  async list<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}): Promise<Page<T>> {
    await this.#enter('list', kind, options);
    const [at, offset] = options.continue?.split(':').map(Number) ?? [this.#version, 0];
    const selected = this.#selects(options);
    const all = options.continue === undefined ? this.state(kind).filter(selected) : this.#snapshots.get(at!);
    if (!all) throw apiError(410, 'Expired');
    const end = options.limit ? offset! + options.limit : all.length;
    const more = end < all.length;
    if (more) this.#snapshots.set(at!, all);
    const items = all.slice(offset, end) as unknown as T[];
    return { items, resourceVersion: `${at}`, ...(more ? { continue: `${at}:${end}` } : {}) };
  }

  async watch<T extends KubeObject>(
    kind: Kind<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void> {
    await this.#enter('watch', kind, options);
    const from = Number(options.resourceVersion ?? 0);
    if (from < this.#compacted) throw apiError(410, 'Expired');
    const selects = this.#selects(options);
    const send = (entry: Entry): void => {
      const event = entry.plural === kind.plural ? eventOf(entry, selects) : undefined;
      if (event) onEvent(event as unknown as WatchEvent<T>);
    };
    const ended = Promise.withResolvers<void>();
    const watch: FakeWatch = {
      plural: kind.plural,
      options,
      close: () => ended.resolve(),
      fail: (error) => ended.reject(error),
      bookmark: () => onEvent({ type: 'BOOKMARK', object: { metadata: { resourceVersion: `${this.#version}` } } }),
    };
    const abort = (): void => ended.reject(options.signal?.reason);
    options.signal?.addEventListener('abort', abort);
    this.watches.add(watch);
    this.#listeners.add(send);
    options.onOpen?.();
    for (const entry of this.#history) if (entry.version > from) send(entry);
    try {
      await ended.promise;
    } finally {
      options.signal?.removeEventListener('abort', abort);
      this.watches.delete(watch);
      this.#listeners.delete(send);
    }
  }

  async create<T extends KubeObject>(kind: Kind<T>, object: T, options?: unknown): Promise<T> {
    await this.#enter('create', kind, options);
    if (this.#of(kind).has(keyOf(object.metadata))) throw apiError(409, 'AlreadyExists');
    return this.#write(kind, undefined, {
      ...object,
      metadata: { ...object.metadata, uid: `uid-${++this.#uids}` },
    }) as unknown as T;
  }

  async update<T extends KubeObject>(kind: Kind<T>, object: T, options?: unknown): Promise<T> {
    await this.#enter('update', kind, options);
    const old = this.#find(kind, object.metadata);
    const { resourceVersion } = object.metadata;
    if (resourceVersion !== undefined && resourceVersion !== old.metadata.resourceVersion) {
      throw apiError(409, 'Conflict');
    }
    return this.#write(kind, old, {
      ...object,
      metadata: { ...object.metadata, uid: old.metadata.uid },
    }) as unknown as T;
  }

  async patch<T extends KubeObject>(kind: Kind<T>, ref: Ref, patch: Patch, options?: unknown): Promise<T> {
    await this.#enter('patch', kind, { ref, patch, options });
    if (patch.type !== 'merge') throw new Error(`the fake client has no ${patch.type} patch`);
    const old = this.#find(kind, ref);
    return this.#write(kind, old, merge(old, patch.body) as AnyObject) as unknown as T;
  }

  async delete<T extends KubeObject>(kind: Kind<T>, ref: Ref, options?: DeleteOptions): Promise<T | undefined> {
    await this.#enter('delete', kind, options);
    this.#write(kind, this.#find(kind, ref), undefined);
    return undefined;
  }

  /** Serves `discovery`. */
  async raw<R>({ path }: RawRequest): Promise<R> {
    await turn();
    const answer = this.discovery.get(path);
    if (answer === undefined) throw apiError(404, 'NotFound');
    if (answer instanceof Error) throw answer;
    return answer as R;
  }

  flow(): Client {
    return this;
  }

  close(): void {
    for (const watch of this.watches) watch.close();
  }

  /** The stored objects, sorted by key. */
  state(kind: AnyKind): AnyObject[] {
    return [...this.#of(kind)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  async #enter(method: Method, kind: AnyKind, options: unknown): Promise<void> {
    this.requests.push({ method, plural: kind.plural, options });
    const at = this.#faults.findIndex((fault) => fault.method === method);
    const fault = at < 0 ? undefined : this.#faults.splice(at, 1)[0]!.fault;
    await turn();
    const { signal } = (options ?? {}) as { signal?: AbortSignal };
    signal?.throwIfAborted();
    if (typeof fault === 'function') await fault();
    else if (fault !== undefined) throw fault as Error;
    signal?.throwIfAborted();
  }

  #of(kind: AnyKind): Map<string, AnyObject> {
    let objects = this.#objects.get(kind.plural);
    if (!objects) this.#objects.set(kind.plural, (objects = new Map()));
    return objects;
  }

  #find(kind: AnyKind, ref: Ref): AnyObject {
    const found = this.#of(kind).get(keyOf(ref));
    if (!found) throw apiError(404, 'NotFound');
    return found;
  }

  #write(kind: AnyKind, old: AnyObject | undefined, next: KubeObject | undefined): AnyObject | undefined {
    const version = ++this.#version;
    const stamped = next && stamp(next, version);
    if (stamped) this.#of(kind).set(keyOf(stamped.metadata), stamped);
    else this.#of(kind).delete(keyOf(old!.metadata));
    const entry = { version, plural: kind.plural, old, new: stamped };
    this.#history.push(entry);
    for (const listener of this.#listeners) listener(entry);
    return stamped;
  }

  #selects({ namespace, labelSelector = '', fieldSelector = '' }: Selection): (object: AnyObject) => boolean {
    const labels = parseSelector(labelSelector);
    const fields = parseFieldSelector(fieldSelector);
    return (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) &&
      matches(labels, object.metadata.labels) &&
      fields(object);
  }
}

/** The event for a watch with this selector; an object that no longer matches is reported as deleted. */
function eventOf(entry: Entry, selects: (object: AnyObject) => boolean): WatchEvent<AnyObject> | undefined {
  const before = entry.old && selects(entry.old);
  const after = entry.new && selects(entry.new);
  if (after) return { type: before ? 'MODIFIED' : 'ADDED', object: entry.new };
  return before ? { type: 'DELETED', object: stamp(entry.old, entry.version) } : undefined;
}

function stamp(object: KubeObject, version: number): AnyObject {
  return structuredClone({ ...object, metadata: { ...object.metadata, resourceVersion: `${version}` } });
}

function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = typeof target === 'object' && target !== null ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merge(result[name], value);
  }
  return result;
}
