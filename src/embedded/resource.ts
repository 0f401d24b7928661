// Describes one served resource: built in (kinds/) or made from a CustomResourceDefinition (crd/).
import type { Schema } from './schema/types.ts';
import type { WebhookClientConfig } from './webhook-client.ts';

/** A Kubernetes object as plain JSON. Integers above 2^53 are bigints. */
export type ApiObject = Readonly<Record<string, unknown>>;

export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, higher priorities only with `-o wide`. */
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
  /** The store version at which these schemas were set: objects stored earlier may not match them. */
  readonly since: number;
  /** The field path of the replicas in every version; undefined for a version without scale. */
  readonly replicas: ReadonlyMap<string, readonly string[] | undefined>;
  /** The conversion webhook; without one, versions differ only in `apiVersion` and schema. */
  readonly webhook?: ConversionWebhook;
}

export interface ConversionWebhook {
  readonly clientConfig: WebhookClientConfig;
  /** The version of ConversionReview that the webhook is sent. */
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
  /** A getter for built-in kinds: the definitions are parsed when the first schema is read. */
  readonly schema: Schema;
  /** All columns, including `Name`. */
  readonly columns: readonly PrinterColumn[];
  /** True for kinds of a CustomResourceDefinition: no strategic merge patch, unknown fields are pruned by schema. */
  readonly custom: boolean;
  /** Whether a change of the object raises `metadata.generation`. See `raisesGeneration` in kinds/. */
  readonly hasGeneration: boolean;
  /** The group and version in which the object is stored, if they differ from the resource's own. */
  readonly stored?: { readonly group: string; readonly version: string };
  /** How objects of a custom kind are converted between versions. */
  readonly conversion?: Conversion;
  /** The warning in the response to every request for the resource. */
  readonly deprecation?: string;
  /** The fields that a field selector may use, besides `metadata.name` and `metadata.namespace`. */
  readonly selectableFields?: Readonly<Record<string, (object: ApiObject) => string>>;
}
