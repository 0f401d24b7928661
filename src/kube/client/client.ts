// The client of a Kubernetes API server that everything else uses. `connect` (connect.ts) creates one over HTTPS.
import type { Kind, KubeObject, Ref } from '../objects.ts';

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Present when there are more pages. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** Deadline of the whole request in milliseconds; the client's own default otherwise. Not for watches. */
  readonly timeoutMs?: number;
  /** Called right before the request is sent, also for a retry. What it throws rejects the request. Not for watches. */
  readonly beforeSend?: () => void;
}

export interface Selection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Lets callers that cache objects skip what they never read. */
interface ReadOptions {
  /** Leave out managedFields, except of objects that a field manager of ours has written. */
  readonly omitForeignManagedFields?: boolean;
  /** Request only the metadata of the objects; their kind is then PartialObjectMetadata. */
  readonly metadataOnly?: boolean;
}

export interface ListOptions extends RequestOptions, Selection, ReadOptions {
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface WatchOptions extends Selection, ReadOptions {
  readonly signal?: AbortSignal;
  readonly resourceVersion?: string;
  readonly timeoutSeconds?: number;
  readonly sendInitialEvents?: boolean;
  /** No byte for this long means that the connection is dead: the watch rejects. */
  readonly idleMs?: number;
  /** Called once when the server has answered 200, before any event. */
  readonly onOpen?: () => void;
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: { readonly metadata: { readonly resourceVersion: string } } };

export interface WriteOptions extends RequestOptions {
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore';
  readonly subresource?: string;
}

export type Patch =
  | { readonly type: 'json'; readonly body: readonly unknown[] }
  | { readonly type: 'merge' | 'strategic'; readonly body: unknown }
  /** Server-side apply: needs `fieldManager` in the options. */
  | { readonly type: 'apply'; readonly body: unknown; readonly force?: boolean };

export interface DeleteOptions extends RequestOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

/** A request that has no method of its own here: discovery, /version, reviews. */
export interface RawRequest extends RequestOptions {
  readonly method?: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
}

/** Every rejection of these methods is an `ApiError` (errors.ts), the abort reason of the given signal, or from `beforeSend`. */
export interface Client {
  get<T extends KubeObject>(kind: Kind<T>, ref: Ref, options?: RequestOptions & { subresource?: string }): Promise<T>;
  /** One page. */
  list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): Promise<Page<T>>;
  /**
   * Calls `onEvent` for each event, in order. Resolves when the server closes the stream normally; rejects on a dead or
   * broken connection, and with the Status of an in-stream ERROR event.
   */
  watch<T extends KubeObject>(
    kind: Kind<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void>;
  create<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<T>;
  update<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(kind: Kind<T>, ref: Ref, patch: Patch, options?: WriteOptions): Promise<T>;
  /** Resolves with the object while it still exists (finalizers, grace period), with undefined once it is gone. */
  delete<T extends KubeObject>(kind: Kind<T>, ref: Ref, options?: DeleteOptions): Promise<T | undefined>;
  raw<R = unknown>(request: RawRequest): Promise<R>;
  /** The same connection for another component: requests of different flows are queued fairly. */
  flow(name: string): Client;
  /** Closes all connections; later requests are rejected. */
  close(): void;
}
