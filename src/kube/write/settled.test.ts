import { expect, test } from 'vitest';
import { defineKind } from '../objects.ts';
import type { KubeObject } from '../objects.ts';
import { SettledForms } from './settled.ts';

const Quota = defineKind('v1', 'ResourceQuota', 'resourcequotas');
const quota = (namespace: string, cpu = '0.5'): KubeObject & { spec: object } => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q', namespace },
  spec: { hard: { cpu } },
});
const CANONICAL = { spec: { hard: { cpu: '500m' } } };

test('the form that the server gave to an object is what was applied, until either changes', () => {
  const forms = new SettledForms(() => true);
  expect(forms.isSettled(Quota, quota('a'), CANONICAL, quota('a'))).toBe(false);
  forms.settle(Quota, quota('a'), CANONICAL, quota('a'));
  expect(forms.isSettled(Quota, quota('a'), CANONICAL, quota('a'))).toBe(true);
  expect(forms.isSettled(Quota, quota('b'), CANONICAL, quota('b'))).toBe(false);
  expect(forms.isSettled(Quota, quota('a'), CANONICAL, quota('a', '1'))).toBe(false);
  expect(forms.isSettled(Quota, quota('a'), { spec: { hard: { cpu: '2' } } }, quota('a'))).toBe(false);
  forms.forget(Quota, quota('a'));
  expect(forms.isSettled(Quota, quota('a'), CANONICAL, quota('a'))).toBe(false);
});

test('forms of objects that others deleted are forgotten', () => {
  const live = new Set<string>();
  const forms = new SettledForms((_kind, { metadata }) => live.has(metadata.namespace!));
  const settle = (namespace: string): void => {
    live.add(namespace);
    forms.settle(Quota, quota(namespace), CANONICAL, quota(namespace));
  };
  for (let i = 0; i < 200; i++) settle(`kept-${i}`);
  for (let i = 0; i < 5_000; i++) {
    settle(`gone-${i}`);
    live.delete(`gone-${i}`);
  }
  expect(forms.size).toBeLessThan(1_000);
  const kept = [...live].filter((name) => forms.isSettled(Quota, quota(name), CANONICAL, quota(name)));
  expect(kept).toHaveLength(200);
});
