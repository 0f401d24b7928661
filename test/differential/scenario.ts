// The types of the corpus, and functions that build its requests.
// In every string, `<ns>` is replaced with the scenario's namespace, and `<name>` with the value of an earlier `keep`.

export interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** One request. Its normalised response (normalise.ts) must be the same on both servers. */
export interface Step {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly accept?: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  /** Impersonates this user. */
  readonly as?: string;
  readonly groups?: readonly string[];
  /** Repeats the request until this condition is met. */
  readonly until?: Condition;
  /** The response is a stream: reads this many events, or fewer when it ends before. */
  readonly events?: number;
  /** Requests to send while the stream is open. Their responses are not compared. */
  readonly meanwhile?: readonly Step[];
  /** Keeps parts of the response body for later steps: name → path. */
  readonly keep?: Readonly<Record<string, string>>;
  /** Compares only these parts of the body. */
  readonly only?: readonly string[];
  /** Ignores these parts of an object, which controllers write at any time. */
  readonly without?: readonly string[];
}

/** A status code, any warning, or the value of a part of the body (any value when `is` is absent). */
export type Condition =
  | { readonly code: number }
  | { readonly warned: true }
  | { readonly path: string; readonly is?: unknown };

type Options = Partial<Omit<Step, 'method' | 'path' | 'body'>>;

export function scenario(name: string, ...steps: readonly Step[]): Scenario {
  return { name, steps };
}

export function get(path: string, options: Options = {}): Step {
  return { method: 'GET', path, ...options };
}

/** A watch, which ends after a second. */
export function watch(path: string, events: number, query: Readonly<Record<string, string>> = {}): Step {
  return { method: 'GET', path, events, query: { watch: 'true', timeoutSeconds: '1', ...query } };
}

export function post(path: string, body: unknown, options: Options = {}): Step {
  return { method: 'POST', path, body, ...options };
}

export function put(path: string, body: unknown, options: Options = {}): Step {
  return { method: 'PUT', path, body, ...options };
}

export function del(path: string, body?: unknown, options: Options = {}): Step {
  return { method: 'DELETE', path, ...(body === undefined ? {} : { body }), ...options };
}

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

export function patch(type: keyof typeof patchTypes, path: string, body: unknown, options: Options = {}): Step {
  return { method: 'PATCH', path, body, contentType: patchTypes[type], ...options };
}

/** A server-side apply with a field manager. */
export function apply(manager: string, path: string, body: unknown, options: Options = {}): Step {
  const query = { fieldManager: manager, ...options.query };
  return { method: 'PATCH', path, body, contentType: 'application/apply-patch+yaml', ...options, query };
}

/** Ignores the fields that controllers write at the same time. */
export function ignoringControllers(...steps: readonly Step[]): Step[] {
  return steps.map((step) => ({ ...step, without: ['status', 'metadata.annotations'] }));
}

/** Waits until the object is deleted. */
export function untilDeleted(path: string): Step {
  return get(path, { until: { code: 404 } });
}

/** A path of the core group in the scenario's namespace. */
export function core(...parts: readonly string[]): string {
  return ['/api/v1/namespaces/<ns>', ...parts].join('/');
}

/** A path of another group in the scenario's namespace. */
export function inGroup(groupVersion: string, ...parts: readonly string[]): string {
  return [`/apis/${groupVersion}/namespaces/<ns>`, ...parts].join('/');
}

/** A ConfigMap with the given data. */
export function configMap(name: string, data?: object, metadata: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...metadata },
    ...(data === undefined ? {} : { data }),
  };
}

export const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
export const metadataType = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json';
export const metadataListType = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';
