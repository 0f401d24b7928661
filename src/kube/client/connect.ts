// The Kubernetes client over HTTP(S): `connect(config)` creates the `Client` that everything else uses.
import type {
  Client,
  DeleteOptions,
  ListOptions,
  Page,
  Patch,
  RawRequest,
  RequestOptions,
  Selection,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.ts';
import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import type { ConnectConfig } from './config/config.ts';
import { credentialsOf } from './auth/credentials.ts';
import { ApiError, connectionError } from '../errors.ts';
import { closeAll, failure, openIdentified, send, withDeadline } from './http/exchange.ts';
import type { Answer, RequestReport, Shared } from './http/exchange.ts';
import { FairSemaphore } from './http/fairness.ts';
import { impersonationHeaders } from './auth/impersonation.ts';
import { parseJson, stringifyJson } from '../json.ts';
import { parseWithoutForeign } from '../managed-fields.ts';
import type { Kind, KubeObject, Ref } from '../objects.ts';
import { collectionPath, objectPath, withQuery } from './resource-path.ts';
import { collect, Transport } from './http/transport.ts';
import type { LocalServer, WireRequest } from './http/transport.ts';
import { IdleTimer, readEvents } from './watch-stream.ts';

export interface ConnectOptions {
  /** Concurrent requests, not counting watches. 64 by default. */
  readonly maxInFlight?: number;
  /** The deadline of a request that names none. 30 seconds by default. */
  readonly timeoutMs?: number;
  readonly userAgent?: string;
  /** Called after every request over the wire, also for each retry; for a watch, when it is answered. */
  readonly onRequest?: (report: RequestReport) => void;
  /** Called with each warning that the server, or an admission webhook, sends with its answer. */
  readonly onWarning?: (text: string) => void;
  readonly clock?: Clock;
  /** An API server in this process, called without the network. */
  readonly local?: LocalServer;
}

/** A client of the API server that the configuration names. Nothing is sent before the first request. */
export function connect(config: ConnectConfig, options: ConnectOptions = {}): Client {
  const shared: Shared = {
    transport: new Transport(config, options.local),
    credentials: credentialsOf(config),
    semaphore: new FairSemaphore(options.maxInFlight ?? 64),
    clock: options.clock ?? systemClock,
    timeoutMs: options.timeoutMs ?? 30_000,
    onRequest: options.onRequest,
    onWarning: options.onWarning,
    inFlight: new Set(),
  };
  const headers = {
    accept: 'application/json',
    'user-agent': options.userAgent ?? 'offshoot',
    ...impersonationHeaders(config.impersonate),
  };
  return new HttpClient(shared, headers, 'default');
}

/** The Accept header for metadata only, if that is requested. */
function acceptOf({ metadataOnly }: { readonly metadataOnly?: boolean }, suffix: 'List' | ''): Headers {
  if (!metadataOnly) return {};
  return { accept: `application/json;as=PartialObjectMetadata${suffix};g=meta.k8s.io;v=v1,application/json` };
}

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  // The API server accepts JSON under this content type too, and an apply under no other.
  apply: 'application/apply-patch+yaml',
} as const;

type Headers = Readonly<Record<string, string | string[]>>;

class HttpClient implements Client {
  readonly #shared: Shared;
  readonly #headers: Headers;
  readonly #flow: string;

  constructor(shared: Shared, headers: Headers, flow: string) {
    this.#shared = shared;
    this.#headers = headers;
    this.#flow = flow;
  }

  async get<T extends KubeObject>(kind: Kind<T>, ref: Ref, options: RequestOptions & { subresource?: string } = {}) {
    return this.#object<T>('GET', objectPath(kind, ref, options.subresource), options);
  }

  async list<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}): Promise<Page<T>> {
    const path = withQuery(collectionPath(kind, options.namespace), {
      ...selectors(options),
      limit: options.limit,
      continue: options.continue,
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
    });
    const request = this.#request('GET', path, { 'accept-encoding': 'gzip', ...acceptOf(options, 'List') });
    const answer = await this.#send(request, options);
    const parse = options.omitForeignManagedFields ? parseSparsePage : parseJson;
    return readPage<T>(kind, request, json(request, answer, parse));
  }

  async watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions, onEvent: (event: WatchEvent<T>) => void) {
    const path = withQuery(collectionPath(kind, options.namespace), {
      watch: true,
      allowWatchBookmarks: true,
      ...selectors(options),
      resourceVersion: options.resourceVersion,
      timeoutSeconds: options.timeoutSeconds,
      sendInitialEvents: options.sendInitialEvents,
      // The API server requires it with sendInitialEvents.
      resourceVersionMatch: options.sendInitialEvents === undefined ? undefined : 'NotOlderThan',
    });
    const request = { ...this.#request('GET', path, acceptOf(options, '')), watch: true };
    const shared = this.#shared;
    const idle = new AbortController();
    const silent = (): void =>
      idle.abort(connectionError(request, 'Timeout', `the watch was silent for ${options.idleMs} ms`));
    const timer = options.idleMs === undefined ? undefined : new IdleTimer(shared.clock, options.idleMs, silent);
    const signal = AbortSignal.any(options.signal === undefined ? [idle.signal] : [idle.signal, options.signal]);
    try {
      await withDeadline(shared, request, { signal, timeoutMs: Infinity }, async (requestSignal) => {
        const response = await openIdentified(shared, this.#flow, request, requestSignal);
        timer?.touch();
        if (response.statusCode !== 200)
          throw failure(request, response, await collect(request, response, requestSignal));
        try {
          options.onOpen?.();
          const parse = options.omitForeignManagedFields ? parseSparseEvents : parseJson;
          await readEvents<T>(request, response, requestSignal, parse, onEvent, () => timer?.touch());
        } finally {
          response.destroy();
        }
      });
    } finally {
      timer?.cancel();
    }
  }

  async create<T extends KubeObject>(kind: Kind<T>, object: T, options: WriteOptions = {}) {
    const { metadata } = object;
    if (options.subresource === undefined && kind.namespaced && !metadata.namespace) {
      throw new ApiError(`${kind.kind}: metadata.namespace is missing`, { code: 0, reason: 'InvalidRequest' });
    }
    const path =
      options.subresource === undefined
        ? collectionPath(kind, metadata.namespace)
        : objectPath(kind, metadata, options.subresource);
    return this.#object<T>('POST', withQuery(path, writeQuery(options)), options, object);
  }

  async update<T extends KubeObject>(kind: Kind<T>, object: T, options: WriteOptions = {}) {
    const path = objectPath(kind, object.metadata, options.subresource);
    return this.#object<T>('PUT', withQuery(path, writeQuery(options)), options, object);
  }

  async patch<T extends KubeObject>(kind: Kind<T>, ref: Ref, patch: Patch, options: WriteOptions = {}) {
    if (patch.type === 'apply' && !options.fieldManager) {
      throw new ApiError(`${kind.kind}: an apply patch needs options.fieldManager`, {
        code: 0,
        reason: 'InvalidRequest',
      });
    }
    const force = patch.type === 'apply' ? patch.force : undefined;
    const path = withQuery(objectPath(kind, ref, options.subresource), { ...writeQuery(options), force });
    return this.#object<T>('PATCH', path, options, patch.body, patchTypes[patch.type]);
  }

  async delete<T extends KubeObject>(kind: Kind<T>, ref: Ref, options: DeleteOptions = {}) {
    const answer = await this.#object<T>('DELETE', objectPath(kind, ref), options, {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: options.preconditions,
      propagationPolicy: options.propagationPolicy,
      gracePeriodSeconds: options.gracePeriodSeconds,
      dryRun: options.dryRun ? ['All'] : undefined,
    });
    return stillExists(answer) ? answer : undefined;
  }

  async raw<R = unknown>(raw: RawRequest): Promise<R> {
    const { body, accept, contentType = 'application/json' } = raw;
    const request = this.#request(
      raw.method ?? 'GET',
      withQuery(raw.path, raw.query ?? {}),
      { ...(accept === undefined ? {} : { accept }), ...(body === undefined ? {} : { 'content-type': contentType }) },
      typeof body === 'string' || body instanceof Uint8Array
        ? body
        : body === undefined
          ? undefined
          : stringifyJson(body),
    );
    const answer = await this.#send(request, raw);
    if (answer.body.length === 0) return undefined as R;
    return (/\bjson\b/.test(answer.contentType) ? json(request, answer) : answer.body.toString('utf8')) as R;
  }

  flow(name: string): Client {
    return new HttpClient(this.#shared, this.#headers, name);
  }

  close(): void {
    closeAll(this.#shared);
  }

  async #object<T>(
    method: string,
    path: string,
    options: RequestOptions,
    body?: unknown,
    contentType = 'application/json',
  ): Promise<T> {
    const request =
      body === undefined
        ? this.#request(method, path)
        : this.#request(method, path, { 'content-type': contentType }, stringifyJson(body));
    return json(request, await this.#send(request, options)) as T;
  }

  #request(method: string, path: string, headers: Headers = {}, body?: string | Uint8Array): WireRequest {
    return { method, path, headers: { ...this.#headers, ...headers }, ...(body === undefined ? {} : { body }) };
  }

  #send(request: WireRequest, { signal, timeoutMs, beforeSend }: RequestOptions): Promise<Answer> {
    const fenced = beforeSend === undefined ? request : { ...request, beforeSend };
    return send(this.#shared, this.#flow, fenced, { signal, timeoutMs: timeoutMs ?? this.#shared.timeoutMs });
  }
}

function selectors({ labelSelector, fieldSelector }: Selection): Record<string, string | undefined> {
  return { labelSelector, fieldSelector };
}

function writeQuery({ fieldManager, fieldValidation, dryRun }: WriteOptions): Record<string, string | undefined> {
  return { fieldManager, fieldValidation, dryRun: dryRun ? 'All' : undefined };
}

function parseSparsePage(source: Buffer): unknown {
  return parseWithoutForeign(source, (page) => (page as ListAnswer<KubeObject>).items ?? []);
}

function parseSparseEvents(source: Buffer): unknown {
  return parseWithoutForeign(source, (events) => (Array.isArray(events) ? events.map(objectOf) : [objectOf(events)]));
}

function objectOf(event: unknown): KubeObject | undefined {
  return (event as { readonly object?: KubeObject } | null)?.object;
}

function json(request: WireRequest, answer: Answer, parse: (source: Buffer) => unknown = parseJson): unknown {
  try {
    return parse(answer.body);
  } catch (error) {
    const start = answer.body.toString('utf8', 0, 80);
    throw connectionError(request, 'InvalidAnswer', `the answer is not JSON (${answer.contentType}): ${start}`, error);
  }
}

interface ListAnswer<T> {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  readonly items?: readonly T[] | null;
}

/** Items of built-in kinds have no apiVersion and kind; they are added here. */
function readPage<T extends KubeObject>(kind: Kind<T>, request: WireRequest, answer: unknown): Page<T> {
  const list = answer as ListAnswer<T>;
  if (list?.kind === undefined || list.items === undefined) {
    throw connectionError(request, 'InvalidAnswer', `the answer is not a list of ${kind.plural}`);
  }
  const apiVersion = list.apiVersion ?? '';
  const itemKind = list.kind.replace(/List$/, '') || kind.kind;
  const { resourceVersion = '', continue: next, remainingItemCount } = list.metadata ?? {};
  return {
    items: (list.items ?? []).map((item) => (item.kind ? item : { ...item, apiVersion, kind: itemKind })),
    resourceVersion,
    ...(next ? { continue: next } : {}),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  };
}

/** The server answers a DELETE with a Status or with the object, for some kinds even if that is gone already. */
function stillExists(answer: KubeObject & { spec?: { finalizers?: readonly string[] } }): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = answer.metadata ?? {};
  if (deletionTimestamp === undefined) return false;
  // A namespace keeps its finalizers in its spec.
  return !!finalizers?.length || !!answer.spec?.finalizers?.length || (deletionGracePeriodSeconds ?? 0) > 0;
}
