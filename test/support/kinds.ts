// Kinds that the suites on clusters use: ConfigMaps, and Widgets, which exist only for tests.
import type { Client } from '../../src/kube/client/client.ts';
import { isAlreadyExists, isNotFound } from '../../src/kube/errors.ts';
import { defineKind } from '../../src/kube/objects.ts';
import type { KubeObject, OwnerReference } from '../../src/kube/objects.ts';
import { CustomResourceDefinition } from './core-kinds.ts';
import { until } from './until.ts';

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export const configMaps = defineKind<ConfigMap>('v1', 'ConfigMap', 'configmaps');

/** A ConfigMap to create. */
export function configMap(namespace: string, name: string, data: Readonly<Record<string, string>> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
}

/** An owner reference to this object. */
export function ownedBy(owner: KubeObject): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid!, blockOwnerDeletion: true };
}

/** A custom resource with a 64-bit integer, a list with keys and a status subresource. */
export interface Widget extends KubeObject {
  readonly spec: {
    readonly big?: number | bigint;
    readonly size?: number;
    readonly parts?: readonly { readonly name: string; readonly count?: number }[];
  };
  readonly status?: { readonly phase?: string };
}

export const widgets = defineKind<Widget>('test.offshoot.dev/v1', 'Widget', 'widgets');

const widgetSpec = {
  type: 'object',
  properties: {
    big: { type: 'integer', format: 'int64' },
    size: { type: 'integer', minimum: 0 },
    parts: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, count: { type: 'integer' } },
      },
    },
  },
};

/** Installs the definition of Widgets, unless another suite has, and waits until they are served. */
export async function installWidgets(client: Client): Promise<void> {
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: widgetSpec, status: { type: 'object', properties: { phase: { type: 'string' } } } },
    },
  };
  try {
    await client.create(CustomResourceDefinition, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.test.offshoot.dev' },
      spec: {
        group: 'test.offshoot.dev',
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
      },
    });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  await until(async () => {
    try {
      await client.list(widgets, { limit: 1 });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  });
}

/** A Widget to create. */
export function widget(namespace: string, name: string, spec: Widget['spec'] = {}): Widget {
  return { apiVersion: 'test.offshoot.dev/v1', kind: 'Widget', metadata: { name, namespace }, spec };
}
