// The arguments of the verbs: the cluster, the target object and the options of the request.
import type { AnyObject } from '../../kube/objects.ts';
import type { Registry } from '../registry.ts';
import type { Resource } from '../resource.ts';
import type { Store } from '../store/store.ts';
import type { Stored } from '../store/types.ts';

/** The user who sends the request. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** One write to review. */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly target: Target;
  readonly object: AnyObject | undefined;
  readonly oldObject: AnyObject | undefined;
  readonly options: WriteOptions;
}

/** Calls the admission webhooks; throws a Fault when one denies the request. `mutate` returns the object to store. */
export interface Reviews {
  mutate(request: AdmissionRequest): Promise<AnyObject | undefined>;
  validate(request: AdmissionRequest): Promise<void>;
}

export interface Admission extends Reviews {
  /** Runs the write of an admitted object, unless it exceeds a quota. */
  create<T>(request: AdmissionRequest, write: () => Promise<T>): Promise<T>;
}

/** Information from outside the server. */
export interface Hooks {
  /** The log of a container. */
  readonly podLog?: (pod: AnyObject, container: string) => string;
  /** The URL behind a service, for webhooks that reference one; undefined when no pod serves it. */
  readonly resolveService?: (service: {
    readonly namespace: string;
    readonly name: string;
    readonly port: number;
  }) => string | undefined;
}

export interface Cluster {
  readonly store: Store;
  readonly registry: Registry;
  readonly admission: Admission;
  readonly hooks: Hooks;
}

/** The object of a request, or the collection when `name` is empty. */
export interface Target {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

export interface WriteOptions {
  readonly user: UserInfo;
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore';
  /** The options as the caller sent them, for admission reviews. */
  readonly given?: Readonly<Record<string, unknown>>;
  /** Paths of fields that the body contains twice. */
  readonly duplicates?: readonly string[];
  /** Adds a warning to the response. */
  readonly warn: (text: string) => void;
}

/** The result of a write. */
export interface Written {
  readonly stored: Stored;
  readonly created: boolean;
  /** True if the object was removed from the store. */
  readonly gone: boolean;
}

/** The user of the server's own requests. */
export const systemUser: UserInfo = { username: 'system:apiserver', groups: ['system:masters'] };

/** The key of the target in its collection. */
export function keyOf(target: Pick<Target, 'namespace' | 'name' | 'resource'>): string {
  return target.resource.namespaced ? `${target.namespace}/${target.name}` : target.name;
}
