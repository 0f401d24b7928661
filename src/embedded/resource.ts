// What the API server knows of one served resource: built in (kinds/) or made from a CustomResourceDefinition (crd/).
import type { Schema } from './schema/types.ts';

export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description?: string;
  /** 0 shows always, above 0 only with `-o wide`. */
  readonly priority?: number;
  /** A JSON path for custom kinds; a function of the object for built-in ones. */
  readonly value: string | ((object: Readonly<Record<string, unknown>>, now: number) => string | number | boolean | null);
}

export interface ScaleSubresource {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
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
  readonly schema: Schema;
  readonly columns: readonly PrinterColumn[];
  /** True for kinds made from a CustomResourceDefinition: no strategic merge patch, unknown fields pruned by schema. */
  readonly custom: boolean;
  /** Does a change of this object raise `metadata.generation`? Compares what the kind counts as its spec. */
  readonly hasGeneration: boolean;
}
