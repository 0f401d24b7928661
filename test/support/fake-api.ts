// A Kubernetes API in memory, behind the Client interface and without HTTP: for tests that run thousands of times.
// Versions, generations, finalizers, server-side apply and conflicts work as on a server; objects are not validated.
import { applyMergePatch, applyPatch, PatchError, trackUpdate } from '../../src/embedded/patch/index.ts';
import type { Schema } from '../../src/embedded/schema/types.ts';
import type {
  Client,
  DeleteOptions,
  ListOptions,
  Page,
  Patch,
  RawRequest,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/errors.ts';
import { apiVersionOf, keyOf } from '../../src/kube/objects.ts';
import type { AnyKind, AnyObject, Kind, KubeObject, Ref } from '../../src/kube/objects.ts';
import { parseFieldSelector } from '../../src/kube/selector.ts';
import { timestamp } from '../../src/kube/times.ts';
import { deepFreeze, jsonEqual } from '../../src/watchable/index.ts';

const ANY: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

interface Change {
  readonly kind: string;
  readonly version: number;
  readonly event: WatchEvent<AnyObject>;
}

/** A write that was acknowledged. */
export interface Write {
  readonly verb: 'create' | 'update' | 'patch' | 'apply' | 'delete';
  readonly kind: string;
  readonly key: string;
  readonly subresource?: string;
}

export class FakeApi implements Client {
  /** Every acknowledged write that changed something, oldest first. */
  readonly writes: Write[] = [];
  /** The server's clock. */
  now: () => number = () => Date.now();
  /** Called before each request; what it throws is the response. */
  intercept: (request: { verb: string; kind: string; key: string; subresource?: string }) => void = () => {};
  /** Called with each object before it is stored; what it throws is the response. */
  admit: (object: AnyObject) => void = () => {};
  /** Delivers watch events: at once, unless a test delays or reorders them between kinds. */
  deliver: (kind: string, send: () => void) => void = (_kind, send) => queueMicrotask(send);
  readonly #objects = new Map<string, Map<string, AnyObject>>();
  readonly #log: Change[] = [];
  readonly #watchers = new Set<() => void>();
  #version = 0;
  #uids = 0;
  #tokens = 0;

  /** All objects of a kind, by key. */
  all(kind: AnyKind): ReadonlyMap<string, AnyObject> {
    return this.#of(kind);
  }

  /** All stored objects, without the metadata that differs between equivalent runs. */
  state(): Record<string, unknown> {
    const state: Record<string, unknown> = {};
    for (const [kind, objects] of [...this.#objects].sort(([a], [b]) => (a < b ? -1 : 1))) {
      for (const [key, object] of [...objects].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const {
          uid: _u,
          resourceVersion: _v,
          creationTimestamp: _c,
          managedFields: _m,
          generation: _g,
          ...metadata
        } = object.metadata;
        state[`${kind} ${key}`] = { ...object, metadata };
      }
    }
    return JSON.parse(
      JSON.stringify(state).replaceAll(/"lastTransitionTime":"[^"]*"/g, '"lastTransitionTime":"*"'),
    ) as Record<string, unknown>;
  }

  async get<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<T> {
    await this.#request('get', kind, ref);
    return this.#stored(kind, ref) as unknown as T;
  }

  async list<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}): Promise<Page<T>> {
    await this.#request('list', kind, { name: '' });
    const selects = parseFieldSelector(options.fieldSelector ?? '');
    const items = [...this.#of(kind).values()].filter(
      (object) =>
        (options.namespace === undefined || object.metadata.namespace === options.namespace) && selects(object),
    );
    return { items: items as unknown as T[], resourceVersion: String(this.#version) };
  }

  async watch<T extends KubeObject>(
    kind: Kind<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void> {
    await this.#request('watch', kind, { name: '' });
    options.onOpen?.();
    let seen = Number(options.resourceVersion ?? this.#version);
    const { promise, resolve } = Promise.withResolvers<void>();
    const pump = (): void => {
      for (const { kind: of, version, event } of this.#log.slice(seen)) {
        if (of !== idOf(kind)) continue;
        const object = event.object as KubeObject;
        if (options.namespace !== undefined && object.metadata.namespace !== options.namespace) continue;
        this.deliver(of, () => {
          if (!options.signal?.aborted) onEvent(event as unknown as WatchEvent<T>);
        });
        seen = version;
      }
      seen = this.#version;
    };
    this.#watchers.add(pump);
    options.signal?.addEventListener('abort', () => resolve(), { once: true });
    if (options.signal?.aborted) resolve();
    pump();
    await promise;
    this.#watchers.delete(pump);
    options.signal?.throwIfAborted();
  }

  async create<T extends KubeObject>(kind: Kind<T>, object: T, options: WriteOptions = {}): Promise<T> {
    await this.#request('create', kind, object.metadata, options);
    if (this.#of(kind).has(keyOf(object.metadata))) throw refusal(409, 'AlreadyExists', kind, object.metadata);
    return this.#commit('create', kind, undefined, object as unknown as AnyObject, options) as unknown as T;
  }

  async update<T extends KubeObject>(kind: Kind<T>, object: T, options: WriteOptions = {}): Promise<T> {
    await this.#request('update', kind, object.metadata, options);
    const before = this.#guarded(kind, object.metadata, object.metadata.resourceVersion);
    return this.#commit('update', kind, before, object as unknown as AnyObject, options) as unknown as T;
  }

  async patch<T extends KubeObject>(kind: Kind<T>, ref: Ref, patch: Patch, options: WriteOptions = {}): Promise<T> {
    await this.#request(patch.type === 'apply' ? 'apply' : 'patch', kind, ref, options);
    if (patch.type === 'apply') return this.#apply(kind, ref, patch, options) as unknown as T;
    if (patch.type !== 'merge') throw new Error(`the fake API takes no ${patch.type} patch`);
    const body = patch.body as { metadata?: { resourceVersion?: string } };
    const before = this.#guarded(kind, ref, body.metadata?.resourceVersion);
    return this.#commit(
      'patch',
      kind,
      before,
      applyMergePatch(before, body) as unknown as AnyObject,
      options,
    ) as unknown as T;
  }

  async delete<T extends KubeObject>(kind: Kind<T>, ref: Ref, options: DeleteOptions = {}): Promise<T | undefined> {
    await this.#request('delete', kind, ref, options);
    const before = this.#guarded(kind, ref, options.preconditions?.resourceVersion);
    const { uid } = options.preconditions ?? {};
    if (uid !== undefined && uid !== before.metadata.uid) throw refusal(409, 'Conflict', kind, ref);
    if (options.dryRun) return undefined;
    if ((before.metadata.finalizers ?? []).length > 0) {
      if (before.metadata.deletionTimestamp !== undefined) return before as unknown as T;
      const generation = (before.metadata.generation ?? 0) + 1;
      const metadata = { ...before.metadata, generation, deletionTimestamp: this.#time() };
      return this.#store('delete', kind, before, { ...before, metadata }) as unknown as T;
    }
    this.#drop('delete', kind, before);
    return undefined;
  }

  /** Issues tokens for service accounts, without checking that the account exists. */
  async raw<R>(request: RawRequest): Promise<R> {
    const account = /\/namespaces\/([^/]+)\/serviceaccounts\/([^/]+)\/token$/.exec(request.path);
    if (account === null) throw new Error('the fake API serves objects and tokens only');
    await Promise.resolve();
    const [, namespace, name] = account;
    this.intercept({ verb: 'token', kind: 'ServiceAccount', key: `${namespace}/${name}` });
    request.beforeSend?.();
    const { spec } = request.body as { spec: { expirationSeconds: number } };
    const now = this.now();
    const expirationTimestamp = timestamp(now + spec.expirationSeconds * 1000);
    const token = `token-${++this.#tokens}-of-${namespace}/${name}`;
    return {
      metadata: { creationTimestamp: timestamp(now) },
      status: { token, expirationTimestamp },
    } as R;
  }

  flow(): Client {
    return this;
  }

  close(): void {}

  #apply(kind: AnyKind, ref: Ref, patch: Patch & { type: 'apply' }, options: WriteOptions): AnyObject {
    const applied = patch.body as AnyObject;
    const existing = this.#of(kind).get(keyOf(ref));
    // An object that does not exist is created, whatever the version.
    const live = existing && this.#guarded(kind, ref, applied.metadata.resourceVersion);
    try {
      const { object } = applyPatch({
        schema: ANY,
        live,
        applied,
        manager: options.fieldManager ?? '',
        force: patch.force ?? false,
        apiVersion: apiVersionOf(kind),
        now: this.now(),
      });
      return this.#commit('apply', kind, live, object as AnyObject, options);
    } catch (error) {
      if (error instanceof PatchError) throw refusal(error.code, error.reason, kind, ref);
      throw error;
    }
  }

  #commit(
    verb: Write['verb'],
    kind: AnyKind,
    before: AnyObject | undefined,
    next: AnyObject,
    options: WriteOptions,
  ): AnyObject {
    const kept = before === undefined ? next : keepPart(before, next, options.subresource);
    const { uid, resourceVersion, creationTimestamp, generation, deletionTimestamp } = before?.metadata ?? {};
    const metadata = {
      ...kept.metadata,
      uid: uid ?? `uid-${this.#uids + 1}`,
      creationTimestamp: creationTimestamp ?? this.#time(),
      generation: before === undefined ? 1 : generation! + (jsonEqual(before['spec'], kept['spec']) ? 0 : 1),
      resourceVersion,
      ...(deletionTimestamp && { deletionTimestamp }),
    };
    const written = { ...kept, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
    const object = verb === 'apply' ? written : this.#tracked(kind, before, written, options);
    if (before !== undefined && jsonEqual(before, object)) return before;
    this.admit(object);
    if (options.dryRun) return object;
    if (before === undefined) this.#uids++;
    if (deletionTimestamp && (object.metadata.finalizers ?? []).length === 0) {
      return this.#drop(verb, kind, object, options.subresource);
    }
    return this.#store(verb, kind, before, object, options.subresource);
  }

  /** Updates managedFields: fields that another manager wrote are no longer owned by who applied them. */
  #tracked(kind: AnyKind, old: AnyObject | undefined, next: AnyObject, options: WriteOptions): AnyObject {
    return trackUpdate({
      schema: ANY,
      old,
      next,
      manager: options.fieldManager ?? 'somebody',
      apiVersion: apiVersionOf(kind),
      ...(options.subresource && { subresource: options.subresource }),
      now: this.now(),
    }) as unknown as AnyObject;
  }

  #store(
    verb: Write['verb'],
    kind: AnyKind,
    before: AnyObject | undefined,
    next: AnyObject,
    subresource?: string,
  ): AnyObject {
    const object = deepFreeze({ ...next, metadata: { ...next.metadata, resourceVersion: String(this.#version + 1) } });
    this.#of(kind).set(keyOf(object.metadata), object);
    this.#record(verb, kind, { type: before === undefined ? 'ADDED' : 'MODIFIED', object }, subresource);
    return object;
  }

  #drop(verb: Write['verb'], kind: AnyKind, last: AnyObject, subresource?: string): AnyObject {
    const object = deepFreeze({ ...last, metadata: { ...last.metadata, resourceVersion: String(this.#version + 1) } });
    this.#of(kind).delete(keyOf(object.metadata));
    this.#record(verb, kind, { type: 'DELETED', object }, subresource);
    return object;
  }

  #record(verb: Write['verb'], kind: AnyKind, event: WatchEvent<AnyObject>, subresource?: string): void {
    const key = keyOf((event.object as KubeObject).metadata);
    this.writes.push({ verb, kind: kind.kind, key, ...(subresource && { subresource }) });
    this.#log.push({ kind: idOf(kind), version: ++this.#version, event });
    for (const pump of this.#watchers) pump();
  }

  async #request(verb: string, kind: AnyKind, ref: Ref, options: WriteOptions = {}): Promise<void> {
    await Promise.resolve();
    const { subresource, beforeSend } = options;
    this.intercept({ verb, kind: kind.kind, key: keyOf(ref), ...(subresource && { subresource }) });
    beforeSend?.();
  }

  #time(): string {
    return timestamp(this.now());
  }

  #guarded(kind: AnyKind, ref: Ref, resourceVersion: string | undefined): AnyObject {
    const stored = this.#stored(kind, ref);
    if (resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion) {
      throw refusal(409, 'Conflict', kind, ref);
    }
    return stored;
  }

  #stored(kind: AnyKind, ref: Ref): AnyObject {
    const object = this.#of(kind).get(keyOf(ref));
    if (object === undefined) throw refusal(404, 'NotFound', kind, ref);
    return object;
  }

  #of(kind: AnyKind): Map<string, AnyObject> {
    const id = idOf(kind);
    let objects = this.#objects.get(id);
    if (objects === undefined) this.#objects.set(id, (objects = new Map()));
    return objects;
  }
}

/** Only the subresource writes the status, and it writes nothing else. */
function keepPart(before: AnyObject, next: AnyObject, subresource: string | undefined): AnyObject {
  const [base, status] = subresource === 'status' ? [before, next] : [next, before];
  const { status: _status, ...rest } = base;
  return { ...rest, ...(status['status'] !== undefined && { status: status['status'] }) };
}

function idOf(kind: AnyKind): string {
  return `${kind.plural}.${kind.group}`;
}

function refusal(code: number, reason: string, kind: AnyKind, ref: Ref): ApiError {
  return new ApiError(`${kind.plural} "${ref.name}": ${reason}`, { code, reason });
}
