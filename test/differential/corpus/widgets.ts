// A custom resource definition for the scenarios: Widgets, in a separate API group for each scenario.
import { del, get, untilDeleted, post } from '../scenario.ts';
import type { Step } from '../scenario.ts';

export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface Version {
  readonly name?: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly schema?: object;
  readonly more?: object;
}

/** The definition `widgets.NAMESPACE.example.com`. */
export function definition(versions: readonly Version[], spec: object = {}): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.<ns>.example.com' },
    spec: {
      group: '<ns>.example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: versions.map(({ name = 'v1', served = true, storage = true, schema = {}, more = {} }) => ({
        name,
        served,
        storage,
        schema: { openAPIV3Schema: { type: 'object', properties: schema } },
        ...more,
      })),
      ...spec,
    },
  };
}

export const name = `${definitions}/widgets.<ns>.example.com`;
export const widgets = '/apis/<ns>.example.com/v1/namespaces/<ns>/widgets';
export const widget = (spec?: unknown, metadata: object = {}, version = 'v1'): object => ({
  apiVersion: `<ns>.example.com/${version}`,
  kind: 'Widget',
  metadata: { name: 'w', ...metadata },
  ...(spec === undefined ? {} : { spec }),
});
export const w = `${widgets}/w`;

/** Installs a definition and waits until it is served. */
export function install(schema: object, more: object = {}, spec: object = {}): Step[] {
  return [
    post(definitions, definition([{ schema, more }], spec), { only: ['kind'] }),
    get(name, { until: { path: 'status.conditions[type=Established].status', is: 'True' }, only: ['kind'] }),
    get(widgets, { until: { code: 200 } }),
  ];
}

export const remove = [del(name, undefined, { only: ['kind'] }), untilDeleted(name)];
export const spec = (properties: object, more: object = {}): object => ({
  spec: { type: 'object', properties, ...more },
});
