// Tables with the orphans of an environment that is gone: a clone, its rule and a route. For the tests of orphans.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { Tables } from '../../kube/index.ts';
import type { AnyKind, KubeObject } from '../../kube/index.ts';
import { WATCH_ANNOTATION } from '../identity/ownership.ts';
import { Deployment } from '../objects.ts';
import { DestinationRule, VirtualService } from '../../traffic/istio/objects.ts';
import { environmentTables } from '../tables.ts';

const ours = (operation: 'Apply' | 'Update') => [{ manager: 'offshoot-environments', operation }] as const;
const annotations = { [WATCH_ANNOTATION]: 'shop/feature' };
const labels = { version: 'shop-feature' };

export const clone: Deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'cart-shop-feature',
    namespace: 'shop',
    uid: 'clone',
    labels: { ...labels, 'dynamic-env': 'true' },
    annotations,
    managedFields: ours('Apply'),
  },
  spec: { selector: { matchLabels: labels }, template: { metadata: { labels } } },
};

export const rule: DestinationRule = {
  apiVersion: 'networking.istio.io/v1beta1',
  kind: 'DestinationRule',
  metadata: {
    name: 'cart-shop-feature-cart',
    namespace: 'shop',
    uid: 'rule',
    labels,
    annotations,
    managedFields: ours('Apply'),
  },
  spec: { host: 'cart', subsets: [{ name: 'shop-feature', labels }] },
};

/** A route to a version, as an environment inserts it. */
export function route(version: string) {
  return {
    name: `dynamic-environment-${version}-cart-0123456789`,
    route: [{ destination: { host: 'cart', subset: version } }],
  };
}

export const baseRoute = { route: [{ destination: { host: 'cart', subset: 'shared' } }] };

export const routes: VirtualService = {
  apiVersion: 'networking.istio.io/v1beta1',
  kind: 'VirtualService',
  metadata: { name: 'cart', namespace: 'shop', uid: 'routes', annotations, managedFields: ours('Update') },
  spec: { hosts: ['cart'], http: [route('shop-feature'), baseRoute] },
};

/** An environment without subsets. */
export function environment(name: string, namespace = 'shop'): DynamicEnv {
  return {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: { name, namespace, uid: `${namespace}/${name}` },
    spec: { istioMatches: [], subsets: [] },
  };
}

const KINDS: readonly AnyKind[] = [DynamicEnv, Deployment, DestinationRule, VirtualService];

/** Synced tables with these objects. */
export function tablesWith(...objects: readonly KubeObject[]): Tables {
  const tables = new Tables(environmentTables);
  for (const kind of KINDS) {
    const items = objects.filter((object) => object.kind === kind.kind);
    tables.of<KubeObject>(kind).replaceAll(
      items.map((object) => ({ ...object, metadata: { ...object.metadata, resourceVersion: '1' } })),
      '1',
    );
  }
  return tables;
}
