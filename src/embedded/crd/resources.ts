// Makes the served resources of a CustomResourceDefinition.
import { at, isObject, objects, scalarText, strings, text } from '../kinds/read.ts';
import type { ApiObject, Conversion, Resource, ScaleSubresource } from '../resource.ts';
import type { Schema } from '../schema/types.ts';
import { compareVersions } from '../version-order.ts';
import type { WebhookClientConfig } from '../webhook-client.ts';
import { customColumns } from './columns.ts';
import { compileJsonPath } from './jsonpath.ts';

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

function storageVersion(definition: ApiObject): ApiObject {
  return objects(definition, 'spec', 'versions').find((candidate) => candidate['storage'] === true) ?? {};
}

/** One resource per served version, with the accepted names; `since` is the store version of the definition. */
export function customResources(definition: ApiObject, since = 0): readonly Resource[] {
  const group = text(definition, 'spec', 'group');
  // The status has the names without conflicts; until there is a status, use those of the spec.
  const accepted = at(definition, 'status', 'acceptedNames');
  const names = isObject(accepted) && text(accepted, 'plural') !== '' ? accepted : at(definition, 'spec', 'names');
  const storage = storageVersion(definition);
  const stored = { group, version: text(storage, 'name') };
  const conversion = conversionOf(definition, since);
  return objects(definition, 'spec', 'versions')
    .filter((version) => version['served'] === true)
    .map((version) => {
      const scale = scaleOf(version);
      return {
        group,
        version: text(version, 'name'),
        kind: text(names, 'kind'),
        plural: text(names, 'plural'),
        singular: text(names, 'singular') || text(names, 'kind').toLowerCase(),
        shortNames: strings(names, 'shortNames'),
        categories: strings(names, 'categories'),
        namespaced: text(definition, 'spec', 'scope') === 'Namespaced',
        verbs,
        status: isObject(at(version, 'subresources', 'status')),
        ...(scale !== undefined && { scale }),
        subresources: [],
        schema: conversion.schemas.get(`${group}/${text(version, 'name')}`)!,
        columns: customColumns(version),
        custom: true,
        hasGeneration: true,
        stored,
        conversion,
        selectableFields: selectableFields(version),
        ...(version['deprecated'] === true && { deprecation: deprecationOf(definition, version) }),
      };
    });
}

/** Includes versions that are not served, because objects may still be stored in them. */
function conversionOf(definition: ApiObject, since: number): Conversion {
  const versions = objects(definition, 'spec', 'versions');
  const group = text(definition, 'spec', 'group');
  const schemas = new Map(
    versions.map((version) => [`${group}/${text(version, 'name')}`, schemaOf(definition, version)]),
  );
  const replicas = new Map(
    versions.map((version) => {
      const path = scaleOf(version)?.specReplicasPath;
      return [`${group}/${text(version, 'name')}`, path?.split('.').filter((step) => step !== '')];
    }),
  );
  const conversion = at(definition, 'spec', 'conversion');
  if (text(conversion, 'strategy') !== 'Webhook') return { schemas, since, replicas };
  const accepted = strings(conversion, 'webhook', 'conversionReviewVersions');
  const reviewVersion = accepted.find((version) => version === 'v1' || version === 'v1beta1') ?? 'v1';
  const clientConfig = (at(conversion, 'webhook', 'clientConfig') ?? {}) as WebhookClientConfig;
  return { schemas, since, replicas, webhook: { clientConfig, reviewVersion } };
}

/** The schema of a version; with `spec.preserveUnknownFields`, it preserves unknown fields. */
function schemaOf(definition: ApiObject, version: ApiObject): Schema {
  const schema = at(version, 'schema', 'openAPIV3Schema');
  const written = isObject(schema) ? (schema as Schema) : { type: 'object' as const };
  if (at(definition, 'spec', 'preserveUnknownFields') !== true) return written;
  return { ...written, 'x-kubernetes-preserve-unknown-fields': true };
}

function scaleOf(version: ApiObject): ScaleSubresource | undefined {
  const scale = at(version, 'subresources', 'scale');
  if (!isObject(scale)) return undefined;
  const labelSelectorPath = text(scale, 'labelSelectorPath');
  return {
    specReplicasPath: text(scale, 'specReplicasPath'),
    statusReplicasPath: text(scale, 'statusReplicasPath'),
    ...(labelSelectorPath !== '' && { labelSelectorPath }),
  };
}

/** The deprecation warning of a version: its own, or one that recommends the best version that is not deprecated. */
function deprecationOf(definition: ApiObject, version: ApiObject): string {
  const own = text(version, 'deprecationWarning');
  if (own !== '') return own;
  const group = text(definition, 'spec', 'group');
  const kind = text(definition, 'spec', 'names', 'kind');
  const current = objects(definition, 'spec', 'versions').filter(
    (other) => other['served'] === true && other['deprecated'] !== true,
  );
  const [best] = current.map((other) => text(other, 'name')).sort(compareVersions);
  const advice = best === undefined ? '' : `; use ${group}/${best} ${kind}`;
  return `${group}/${text(version, 'name')} ${kind} is deprecated${advice}`;
}

function selectableFields(version: ApiObject): Readonly<Record<string, (object: ApiObject) => string>> {
  return Object.fromEntries(
    objects(version, 'selectableFields').map((field) => {
      const jsonPath = text(field, 'jsonPath');
      const find = compileJsonPath(jsonPath);
      const read = (object: ApiObject): string => {
        const [value] = find(object);
        return scalarText(value) ?? '';
      };
      return [jsonPath.replace(/^\./, ''), read];
    }),
  );
}
