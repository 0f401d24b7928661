// What the API server knows of one served resource: built in (kinds/) or made from a CustomResourceDefinition (crd/).
import type { Schema } from './schema/types.ts';
import type { WebhookClientConfig } from './webhook-client.ts';

/** A Kubernetes object as plain JSON. Integers beyond 2^53 are bigints. */
export type ApiObject = Readonly<Record<string, unknown>>;

export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description?: string;
  /** 0 shows always, above 0 only with `-o wide`. */
  readonly priority?: number;
  /** The cell of an object; null leaves it empty. */
  readonly value: (object: ApiObject, now: number) => string | number | boolean | null;
}

export interface ScaleSubresource {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

export interface Conversion {
  /** The schema of every version, by `apiVersion`. */
  readonly schemas: ReadonlyMap<string, Schema>;
  /** The version of the store at which these schemas came: what was stored before may not fit them. */
  readonly since: number;
  /** The steps to the number of replicas in every version; undefined for one without scale. */
  readonly replicas: ReadonlyMap<string, readonly string[] | undefined>;
  /** Who converts; without one, a version is another only by its name and its schema. */
  readonly webhook?: ConversionWebhook;
}

export interface ConversionWebhook {
  readonly clientConfig: WebhookClientConfig;
  /** The version of ConversionReview that it is asked in. */
  readonly reviewVersion: string;
}

/** One group, version and plural. All versions of a group's plural share one stored object. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly status: boolean;
  readonly scale?: ScaleSubresource;
  /** Further subresources that have handlers of their own, such as `token` or `eviction`. */
  readonly subresources: readonly string[];
  /** For built-in kinds a getter: the definitions are parsed when the first schema is asked for. */
  readonly schema: Schema;
  /** The whole table, `Name` included. */
  readonly columns: readonly PrinterColumn[];
  /** True for kinds made from a CustomResourceDefinition: no strategic merge patch, unknown fields pruned by schema. */
  readonly custom: boolean;
  /** Does a change of this object raise `metadata.generation`? See `raisesGeneration` of kinds/. */
  readonly hasGeneration: boolean;
  /** Where and in which version the object is stored, when that is not the resource's own group and version. */
  readonly stored?: { readonly group: string; readonly version: string };
  /** How the versions of a custom kind become each other. */
  readonly conversion?: Conversion;
  /** The warning that every request for the resource is answered with. */
  readonly deprecation?: string;
  /** The field paths that a field selector may use, besides `metadata.name` and `metadata.namespace`. */
  readonly selectableFields?: Readonly<Record<string, (object: ApiObject) => string>>;
}
