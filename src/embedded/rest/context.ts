// What the verbs work with: the cluster they change, the object they are pointed at, and how they were asked to do it.
import type { AnyObject } from '../../kube/objects.ts';
import type { Registry } from '../registry.ts';
import type { Resource } from '../resource.ts';
import type { Store } from '../store/store.ts';
import type { Stored } from '../store/types.ts';

/** Who asks. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What admission decides about one write; the object it returns is the one that is stored. */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly target: Target;
  readonly object: AnyObject | undefined;
  readonly oldObject: AnyObject | undefined;
  readonly options: WriteOptions;
}

/** Asks the admission webhooks; throws a Fault when one refuses. */
export interface Reviews {
  mutate(request: AdmissionRequest): Promise<AnyObject | undefined>;
  validate(request: AdmissionRequest): Promise<void>;
}

export interface Admission extends Reviews {
  /** Does a creation that all agreed to, unless there is no room for it. */
  create<T>(request: AdmissionRequest, write: () => Promise<T>): Promise<T>;
}

/** What the server cannot know by itself. */
export interface Hooks {
  /** The lines of a container's log. */
  readonly podLog?: (pod: AnyObject, container: string) => string;
  /** The URL behind a service of the cluster, for webhooks that name one; undefined when nobody serves it. */
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

/** The object, or the collection when `name` is empty, that a request is about. */
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
  /** The options as the caller gave them, which is how webhooks see them. */
  readonly given?: Readonly<Record<string, unknown>>;
  /** Fields that the body gives twice. */
  readonly duplicates?: readonly string[];
  /** Takes a warning for the caller. */
  readonly warn: (text: string) => void;
}

/** What a write left behind. */
export interface Written {
  readonly stored: Stored;
  readonly created: boolean;
  /** True once the object is removed. */
  readonly gone: boolean;
}

/** The user that the server's own parts act as. */
export const systemUser: UserInfo = { username: 'system:apiserver', groups: ['system:masters'] };

/** The key of the target in its collection. */
export function keyOf(target: Pick<Target, 'namespace' | 'name' | 'resource'>): string {
  return target.resource.namespaced ? `${target.namespace}/${target.name}` : target.name;
}
