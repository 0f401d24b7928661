// One source for each of our kinds: a zod schema becomes the TypeScript type, the CustomResourceDefinition, the
// validation without a cluster, and the reference page.
import * as z from 'zod';
import { defineKind } from '../kube/objects.ts';
import type { AnyObject, Kind, KubeObject } from '../kube/objects.ts';

interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  /** Above 0: shown with `-o wide` only. */
  readonly priority?: number;
}

export interface ResourceDefinition<Spec extends z.ZodType, Status extends z.ZodType> {
  readonly group: string;
  readonly version: string;
  /** Further versions with the same schema; nothing is converted, and `version` is the one that is stored. */
  readonly alsoServed?: readonly string[];
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly namespaced: boolean;
  readonly description: string;
  /** Called once, when the schema is first used: few commands use one, and building all takes a while. */
  readonly spec: () => Spec;
  readonly status: () => Status;
  readonly columns: readonly PrinterColumn[];
  /** Refuse objects without a spec. */
  readonly requiredSpec?: boolean;
  /** Give objects without a spec an empty one. */
  readonly emptySpec?: boolean;
  /** Refuse changes of the spec. */
  readonly immutableSpec?: boolean;
  /** Keep fields that the schema does not name, anywhere in the object. */
  readonly preserveUnknownFields?: boolean;
}

/** What a schema accepts. */
export type Input<Schema extends () => z.ZodType> = z.input<ReturnType<Schema>>;

/** An object as it is written before the server fills in defaults. */
export interface ResourceObject<Spec, Status> extends KubeObject {
  readonly spec: Spec;
  readonly status?: Status;
}

export interface Resource<T extends KubeObject> {
  readonly kind: Kind<T>;
  /** The CustomResourceDefinition to install. */
  readonly crd: AnyObject;
  readonly definition: ResourceDefinition<z.ZodType, z.ZodType>;
  readonly schemas: Schemas<z.ZodType, z.ZodType>;
}

interface Schemas<Spec extends z.ZodType, Status extends z.ZodType> {
  readonly spec: Spec;
  readonly status: Status;
}

/** Declares a kind of ours. */
export function defineResource<Spec extends z.ZodType, Status extends z.ZodType>(
  definition: ResourceDefinition<Spec, Status>,
): Resource<ResourceObject<z.input<Spec>, z.input<Status>>> {
  const { group, version, kind, plural, namespaced } = definition;
  let crd: AnyObject | undefined;
  let schemas: Schemas<Spec, Status> | undefined;
  return {
    kind: defineKind<ResourceObject<z.input<Spec>, z.input<Status>>>(`${group}/${version}`, kind, plural, {
      namespaced,
    }),
    // Built on first use, like the schemas.
    get crd() {
      return (crd ??= customResourceDefinition(definition, this.schemas));
    },
    get schemas() {
      return (schemas ??= { spec: definition.spec(), status: definition.status() });
    },
    definition,
  };
}

const IMMUTABLE = {
  'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'the spec is immutable: create another object' }],
};

function customResourceDefinition(
  definition: ResourceDefinition<z.ZodType, z.ZodType>,
  schemas: Schemas<z.ZodType, z.ZodType>,
): AnyObject {
  const { group, version, kind, plural, singular, shortNames = [], categories = [] } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular,
        ...(shortNames.length > 0 && { shortNames }),
        ...(categories.length > 0 && { categories }),
      },
      scope: definition.namespaced ? 'Namespaced' : 'Cluster',
      versions: [version, ...(definition.alsoServed ?? [])].map((name) => ({
        name,
        served: true,
        storage: name === version,
        additionalPrinterColumns: definition.columns,
        subresources: { status: {} },
        schema: { openAPIV3Schema: schemaOf(definition, schemas) },
      })),
    },
  };
}

function schemaOf(
  definition: ResourceDefinition<z.ZodType, z.ZodType>,
  { spec, status }: Schemas<z.ZodType, z.ZodType>,
): Record<string, unknown> {
  return {
    description: definition.description,
    type: 'object',
    properties: {
      apiVersion: { type: 'string', description: 'Group and version of the schema of this object.' },
      kind: { type: 'string', description: 'The kind of this object.' },
      metadata: { type: 'object' },
      spec: {
        description: 'Desired state.',
        ...structural(spec),
        ...(definition.emptySpec && { default: {} }),
        ...(definition.immutableSpec && IMMUTABLE),
      },
      status: { description: 'Observed state.', ...structural(status) },
    },
    ...(definition.requiredSpec && { required: ['spec'] }),
    ...(definition.preserveUnknownFields && { 'x-kubernetes-preserve-unknown-fields': true }),
  };
}

/** What a schema node may carry beyond zod's own metadata; copied to the CustomResourceDefinition as it is. */
export interface KubernetesHints {
  readonly format?: string;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message: string }[];
}

const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;

/** Converts a zod schema to a structural schema: removes or rewrites what Kubernetes forbids in one. */
function structural(schema: z.ZodType): Record<string, unknown> {
  return z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      const node = jsonSchema as Record<string, unknown>;
      if (node['additionalProperties'] === false) delete node['additionalProperties'];
      if (node['x-kubernetes-int-or-string'] === true) {
        delete node['type'];
        node['anyOf'] = [{ type: 'integer' }, { type: 'string' }];
      }
      if (node['x-kubernetes-preserve-unknown-fields'] === true) delete node['additionalProperties'];
      if (node['type'] === 'integer') {
        // The format already gives the bounds; those that a double cannot hold exactly would be wrong.
        const wholeInt32 = node['minimum'] === INT32_MIN && node['maximum'] === INT32_MAX;
        if (node['minimum'] === Number.MIN_SAFE_INTEGER || wholeInt32) delete node['minimum'];
        if (node['maximum'] === Number.MAX_SAFE_INTEGER || wholeInt32) delete node['maximum'];
      }
      delete node['propertyNames'];
    },
  });
}
