import { describe, expect, test } from 'vitest';
import type { DynamicEnv, DynamicEnvStatus, SubsetStatus } from '../../api/dynamicenv.ts';
import { environmentSteps, sleepingSteps } from './progress.ts';
import { verdictOf } from './state.ts';

type Conditions = NonNullable<DynamicEnvStatus['conditions']>;

function environment(status?: Partial<DynamicEnvStatus>): DynamicEnv {
  return {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: { name: 'feature', namespace: 'shop', generation: 2 },
    spec: {
      istioMatches: [{ headers: { who: { exact: 'alice' } } }],
      subsets: [{ name: 'cart', namespace: 'shop' }],
      consumers: [{ name: 'worker', namespace: 'shop' }],
    },
    ...(status && {
      status: { subsetsStatus: {}, totalReady: 0, state: 'processing', observedGeneration: 2, ...status },
    }),
  };
}

const clone = (status: string) => ({ name: 'cart-shop-feature', namespace: 'shop', status });
const error = (text: string) => [{ error: text, lastOccurrence: '2026-01-01T00:00:00Z' }];
const notes = (cart: SubsetStatus): string[] =>
  environmentSteps(environment({ subsetsStatus: { 'shop/cart': cart } }))
    .slice(0, 3)
    .map(({ state, note }) => `${state}: ${note}`);

describe('sleepingSteps', () => {
  const asleep: Conditions = [
    { type: 'Ready', status: 'False', reason: 'Asleep', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ];
  const steps = (deployment: string, route: string, conditions: Conditions): string[] =>
    sleepingSteps(
      environment({
        conditions,
        subsetsStatus: {
          'shop/cart': {
            deployment: clone(deployment),
            virtualServices: [{ name: 'cart', namespace: 'shop', status: route }],
          },
        },
        consumersStatus: { 'shop/worker': { ...clone(deployment), name: 'worker-shop-feature' } },
      }),
    ).map(({ label, state, note }) => `${label} ${state}: ${note}`);

  test('shows the removal of routes, and then the scaling of clones to zero', () => {
    expect(steps('running', 'running', [])).toEqual([
      'shop/cart routes waiting: waits for the controller',
      'shop/cart clone waiting: waits until its routes are removed',
      'shop/worker clone waiting: waits until its routes are removed',
    ]);
    expect(steps('running', 'running', asleep)[0]).toBe(
      'shop/cart routes working: being removed from VirtualService shop/cart',
    );
    expect(steps('running', 'unknown', asleep)).toEqual([
      'shop/cart routes done: taken out',
      'shop/cart clone working: scaled to zero once in-flight requests have drained',
      'shop/worker clone working: scaled to zero once in-flight requests have drained',
    ]);
    expect(steps('asleep', 'unknown', asleep).slice(1)).toEqual([
      'shop/cart clone done: scaled to zero (Deployment shop/cart-shop-feature)',
      'shop/worker clone done: scaled to zero (Deployment shop/worker-shop-feature)',
    ]);
  });
});

describe('environmentSteps', () => {
  test('shows that it waits for the controller if there is no status', () => {
    const unseen = { state: 'waiting', note: 'waits for the controller' };
    const labels = ['shop/cart clone', 'shop/cart rule', 'shop/cart routes', 'shop/worker clone'];
    expect(environmentSteps(environment())).toEqual(labels.map((label) => ({ label, ...unseen })));
  });

  test('ignores a status of an earlier generation', () => {
    const subsetsStatus = { 'shop/cart': { deployment: clone('running') } };
    const [first] = environmentSteps(environment({ observedGeneration: 1, subsetsStatus }));
    expect(first).toMatchObject({ state: 'waiting' });
  });

  test('shows a clone that starts', () => {
    expect(notes({ deployment: clone('initializing') })).toEqual([
      'working: initializing (Deployment shop/cart-shop-feature)',
      'waiting: waits for the clone',
      'waiting: waits for the clone',
    ]);
  });

  test('shows that routes wait for proxies once the clone runs', () => {
    const cart = {
      deployment: clone('running'),
      destinationRules: [{ name: 'rule', namespace: 'shop', status: 'running' }],
      virtualServices: [{ name: 'cart', namespace: 'edge', status: 'unknown' }],
    };
    expect(notes(cart).at(-1)).toBe('waiting: waits for proxies to pick up its rule and pods');
  });

  test('shows that earlier routes take all requests', () => {
    const cart = {
      deployment: clone('running'),
      destinationRules: [{ name: 'rule', namespace: 'shop', status: 'running' }],
      virtualServices: [{ name: 'cart', namespace: 'edge', status: 'running' }],
      unreached: 'all of its requests are taken by another one',
    };
    expect(notes(cart).at(-1)).toBe('failed: all of its requests are taken by another one');
  });

  test('shows an environment that runs', () => {
    const cart = {
      deployment: clone('running'),
      destinationRules: [{ name: 'rule', namespace: 'shop', status: 'running' }],
      virtualServices: [
        { name: 'cart', namespace: 'edge', status: 'running' },
        { name: 'other', namespace: 'edge', status: 'ignored-missing-virtual-service' },
      ],
    };
    expect(notes(cart)).toEqual([
      'done: running (Deployment shop/cart-shop-feature)',
      'done: running (DestinationRule shop/rule)',
      'done: running (VirtualService edge/cart)',
    ]);
  });

  test('shows each error at its part', () => {
    const subsetErrors = { destinationRule: error('no rule'), virtualServices: error('no routes') };
    expect(notes({ deployment: clone('failed'), subsetErrors })).toEqual([
      'failed: failed (Deployment shop/cart-shop-feature)',
      'failed: no rule',
      'failed: no routes',
    ]);
    const deployment = { name: '', namespace: '', status: 'unknown' };
    expect(notes({ deployment, subsetErrors: { deployment: error('no base') } })[0]).toBe('failed: no base');
  });
});

describe('verdictOf', () => {
  const condition = (type: string, status: 'True' | 'False', message = ''): Conditions[number] => ({
    type,
    status,
    reason: 'Because',
    message,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });

  test.each([
    ['no status', environment(), 'open'],
    ['progress', environment({ conditions: [condition('Ready', 'False'), condition('Stalled', 'False')] }), 'open'],
    ['Ready', environment({ conditions: [condition('Ready', 'True')] }), 'ready'],
    ['an outdated Ready', environment({ observedGeneration: 1, conditions: [condition('Ready', 'True')] }), 'open'],
    ['a ready state without conditions', environment({ state: 'ready' }), 'ready'],
    ['a degraded state without conditions', environment({ state: 'degraded' }), 'open'],
  ])('decides whether to wait: %s', (_name, env, is) => {
    expect(verdictOf(env).is).toBe(is);
  });

  test('returns the reason of a stalled environment', () => {
    const env = environment({ conditions: [condition('Ready', 'False'), condition('Stalled', 'True', 'no base')] });
    expect(verdictOf(env)).toEqual({ is: 'stalled', reason: 'no base' });
  });
});
