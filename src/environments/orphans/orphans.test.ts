import { describe, expect, test } from 'vitest';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { factsOf } from '../../controller/index.ts';
import { systemClock, Tables } from '../../kube/index.ts';
import type { Client, KubeObject } from '../../kube/index.ts';
import { untracked } from '../../watchable/index.ts';
import { WATCH_ANNOTATION } from '../identity/ownership.ts';
import { describeOrphan, findOrphans } from './orphans.ts';
import { defaultSettings } from '../settings.ts';
import { baseRoute, clone, environment, route, routes, rule, tablesWith } from '../testing/orphan-world.ts';

const orphansIn = (tables: Tables): ReturnType<typeof findOrphans> =>
  findOrphans(factsOf(tables, untracked), defaultSettings);

/** Orphans, with the doubts about them. */
function found(...objects: readonly KubeObject[]): readonly string[] {
  return orphansIn(tablesWith(...objects)).map((orphan) =>
    [describeOrphan(orphan), orphan.environment, orphan.doubt ?? 'certain'].join(' | '),
  );
}

function withMetadata<T extends KubeObject>(object: T, metadata: Partial<KubeObject['metadata']>): T {
  return { ...object, metadata: { ...object.metadata, ...metadata } };
}

const annotated = (value: string) => ({ annotations: { [WATCH_ANNOTATION]: value } });

describe('orphans', () => {
  test('are routes, rules and clones of an environment that is gone', () => {
    expect(found(clone, rule, routes)).toEqual([
      'VirtualService shop/cart | shop/feature | certain',
      'DestinationRule shop/cart-shop-feature-cart | shop/feature | certain',
      'Deployment shop/cart-shop-feature | shop/feature | certain',
    ]);
  });

  test('are not objects of environments in namespaces that are not watched', () => {
    const tables = tablesWith(clone, rule, routes);
    const orphansOf = (...namespaces: string[]) =>
      findOrphans(factsOf(tables, untracked), { ...defaultSettings, namespaces });
    expect(orphansOf('pay')).toEqual([]);
    // An environment with the same version may be in another namespace.
    expect(orphansOf('pay', 'shop').map(({ doubt }) => doubt)).toEqual(
      Array(3).fill('not all environments in the cluster are known'),
    );
  });

  test('are not objects of an existing environment, objects that are being deleted, or objects of others', () => {
    expect(found(environment('feature'), clone, rule, routes)).toEqual([]);
    expect(found(withMetadata(clone, { deletionTimestamp: '2026-01-01T00:00:00Z' }))).toEqual([]);
    const base = { ...routes, spec: { hosts: ['cart'], http: [baseRoute] } };
    expect(
      found(withMetadata(clone, { annotations: {}, managedFields: [] }), withMetadata(base, annotated(''))),
    ).toEqual([]);
  });

  test.each<[string, KubeObject, string]>([
    [
      'an annotation by hand',
      withMetadata(clone, { managedFields: [] }),
      'its managedFields do not say that Offshoot applied it',
    ],
    ['another name', withMetadata(clone, { name: 'cart' }), 'its name does not end in "-shop-feature"'],
    ['a rule of another name', withMetadata(rule, { name: 'cart' }), 'its name has no "-shop-feature-"'],
    [
      'another version',
      withMetadata(clone, { labels: { version: 'shared' } }),
      'its label version is not "shop-feature"',
    ],
    ['no marker', withMetadata(clone, { labels: { version: 'shop-feature' } }), 'it has no label dynamic-env=true'],
    [
      'several environments',
      withMetadata(clone, annotated('shop/feature,shop/other')),
      'its annotation names several environments',
    ],
    ['an annotation alone', { ...routes, spec: {} } as KubeObject, 'it has no route to that environment'],
    [
      'routes that were copied',
      withMetadata(routes, { managedFields: [] }),
      'its managedFields do not say that Offshoot wrote it',
    ],
  ])('are doubtful: %s', (_case, object, doubt) => {
    expect(found(object)).toEqual([expect.stringMatching(/ \| shop\/feature \| /)]);
    expect(found(object)[0]).toContain(doubt);
  });

  test('are doubtful while another environment has the same version', () => {
    const other = environment('b-c', 'shop-a');
    const ofGone = (object: KubeObject) => withMetadata(object, annotated('shop/a-b-c'));
    expect(found(other, ofGone(clone))).toEqual([
      'Deployment shop/cart-shop-feature | shop/a-b-c | another environment has the version "shop-a-b-c"',
    ]);
  });

  test('are reported without a name if the annotation is gone', () => {
    expect(found(withMetadata(clone, { annotations: {} }), withMetadata(routes, { annotations: {} }))).toEqual([
      'VirtualService shop/cart |  | its annotation does not say which environment the route dynamic-environment-shop-feature-cart-0123456789 is for',
      'Deployment shop/cart-shop-feature |  | no annotation says what it was made for',
    ]);
    // Its environment exists, and finds it by its version.
    expect(found(environment('feature'), withMetadata(clone, { annotations: {} }))).toEqual([]);
  });

  test('are distinguished by environment in one VirtualService', () => {
    const both = withMetadata(routes, annotated('shop/feature,shop/other'));
    const shared = {
      ...both,
      spec: { hosts: ['cart'], http: [route('shop-feature'), route('shop-other'), baseRoute] },
    };
    expect(found(environment('other'), shared)).toEqual(['VirtualService shop/cart | shop/feature | certain']);
  });

  test('are not searched for if environments cannot be listed', () => {
    const tables = tablesWith(clone);
    tables.of(DynamicEnv).notServed();
    expect(orphansIn(tables)).toEqual([]);
  });

  test('are not searched for before everything is listed', () => {
    const ending = new AbortController();
    const client = { flow: () => client, list: () => new Promise(() => {}) } as unknown as Client;
    const unlisted = new Tables();
    void unlisted.run({ client, clock: systemClock, signal: ending.signal });
    expect(() => orphansIn(unlisted)).toThrow('the dynamicenvs of the cluster have not been listed yet');
    ending.abort();
  });
});
