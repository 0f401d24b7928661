// The shape of the corpus: scenarios that are data, and the short forms in which their requests are written.
// In every string, `<ns>` stands for the scenario's namespace and `<name>` for what an earlier step kept under that name.

export interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** One request. Its answer must be the same on both servers, once what may differ is taken out (normalise.ts). */
export interface Step {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly accept?: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text goes out as it is, anything else as JSON. */
  readonly body?: unknown;
  /** Act as this user. */
  readonly as?: string;
  readonly groups?: readonly string[];
  /** Ask again until this holds. */
  readonly until?: Condition;
  /** The answer is a stream: read this many events, or fewer when it ends before. */
  readonly events?: number;
  /** For a stream: what is done once it is open. The answers to it are not compared. */
  readonly meanwhile?: readonly Step[];
  /** Remember parts of the answer's body for later steps: name → path. */
  readonly keep?: Readonly<Record<string, string>>;
  /** Compare these parts of the body only. */
  readonly only?: readonly string[];
  /** Leave these parts of an object out: controllers write them when they come to it. */
  readonly without?: readonly string[];
}

/** A status code, any warning, or a part of the body that must have a value (any, when `is` is absent). */
export type Condition =
  | { readonly code: number }
  | { readonly warned: true }
  | { readonly path: string; readonly is?: unknown };

type Options = Partial<Omit<Step, 'method' | 'path' | 'body'>>;

/** A scenario. */
export function scenario(name: string, ...steps: readonly Step[]): Scenario {
  return { name, steps };
}

export function get(path: string, options: Options = {}): Step {
  return { method: 'GET', path, ...options };
}

/** Reads a watch; it ends by itself after a second. */
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

/** A server-side apply by the given manager. */
export function apply(manager: string, path: string, body: unknown, options: Options = {}): Step {
  const query = { fieldManager: manager, ...options.query };
  return { method: 'PATCH', path, body, contentType: 'application/apply-patch+yaml', ...options, query };
}

/** Steps on an object that a controller works on at the same time: what it writes is left out. */
export function apartFromControllers(...steps: readonly Step[]): Step[] {
  return steps.map((step) => ({ ...step, without: ['status', 'metadata.annotations'] }));
}

/** Asks until the object is gone. */
export function gone(path: string): Step {
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
