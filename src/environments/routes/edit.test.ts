import { expect, test } from 'vitest';
import type { VirtualService } from '../../traffic/istio/objects.ts';
import { WATCH_ANNOTATION } from '../identity/ownership.ts';
import type { DueWish } from './due.ts';
import { editService } from './edit.ts';

const wish: DueWish = {
  environment: 'shop/pr',
  owner: { version: 'shop-pr', taken: [] },
  matches: [],
  insertions: [],
  untouched: [],
};

function listing(value: string): VirtualService {
  return {
    apiVersion: 'networking.istio.io/v1beta1',
    kind: 'VirtualService',
    metadata: { name: 'cart', namespace: 'shop', annotations: { [WATCH_ANNOTATION]: value } },
    spec: { hosts: ['cart'], http: [{ route: [{ destination: { host: 'cart' } }] }] },
  };
}

test('an environment without routes is removed from the annotation', () => {
  const { service } = editService(listing('shop/other, shop/pr'), [wish]);
  expect(service.metadata.annotations).toEqual({ [WATCH_ANNOTATION]: 'shop/other' });
});

test('an environment whose routes are not due yet stays in the annotation, as somebody wrote it', () => {
  const before = listing(' shop/pr');
  expect(editService(before, [{ ...wish, isWaiting: true }]).service).toBe(before);
});
