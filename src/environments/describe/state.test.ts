import { describe, expect, test } from 'vitest';
import type { DynamicEnv, DynamicEnvStatus } from '../../api/dynamicenv.ts';
import { ASLEEP } from '../lifecycle/sleep.ts';
import { problemOf, readyCount, reasonOf, whyUnrouted } from './state.ts';

type Conditions = NonNullable<DynamicEnvStatus['conditions']>;

const condition = (type: string, status: 'True' | 'False', message: string, reason = type): Conditions[number] => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

function environment(
  { paused = false, asleep = false },
  status: Partial<DynamicEnvStatus> = {},
  conditions: Conditions = [],
): DynamicEnv {
  return {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: {
      name: 'pr-7',
      namespace: 'shop',
      generation: 1,
      ...(asleep && { annotations: { [ASLEEP]: 'true' } }),
    },
    spec: { key: 'pr-7', subsets: [{ name: 'cart', namespace: 'shop' }], ...(paused && { paused }) },
    status: { subsetsStatus: {}, totalReady: 0, state: 'processing', observedGeneration: 1, conditions, ...status },
  };
}

const conflicted = condition('Conflicted', 'True', 'another one asks for the same');

describe('reasonOf', () => {
  test('says that an environment is paused before anything else', () => {
    const ready = [condition('Ready', 'True', '1 of 1 workloads run'), conflicted];
    const pause = 'only its status is written until spec.paused is unset';
    expect(reasonOf(environment({ paused: true }, { state: 'ready' }, ready))).toBe(pause);
    const held = [condition('Ready', 'False', 'x', 'Paused'), condition('WorkloadsReady', 'False', 'a change waits')];
    expect(reasonOf(environment({ paused: true }, {}, held))).toBe(`${pause}; a change waits`);
  });

  test('says how to wake an environment that is asleep', () => {
    expect(reasonOf(environment({ asleep: true }, {}, [conflicted]))).toBe('"offshoot env wake pr-7 -n shop" wakes it');
  });

  test('returns the message of Ready or Stalled, and nothing for a ready environment', () => {
    expect(reasonOf(environment({}, {}, [condition('Ready', 'False', 'shop/cart: initializing')]))).toBe(
      'shop/cart: initializing',
    );
    expect(reasonOf(environment({}, { state: 'degraded' }, [condition('Stalled', 'True', 'no base')]))).toBe('no base');
    expect(reasonOf(environment({}, { state: 'ready' }, [condition('Ready', 'True', 'fine')]))).toBeUndefined();
  });
});

describe('problemOf', () => {
  const problem = (routed: string, workloads: string): string | undefined =>
    problemOf(
      environment({}, {}, [
        condition('Ready', 'False', 'shop/cart: initializing', 'Processing'),
        condition('WorkloadsReady', 'False', 'the clone does not run', workloads),
        condition('Routed', 'False', 'requests do not arrive', routed),
      ]),
    );

  test.each([
    ['WaitingForWorkloads', 'NotRunning', undefined],
    ['WaitingForRules', 'NotRunning', undefined],
    ['Asleep', 'Asleep', undefined],
    ['Paused', 'Paused', undefined],
    ['WaitingForWorkloads', 'ImagePullBackOff', 'the clone does not run'],
    ['WaitingForWorkloads', 'CrashLoopBackOff', 'the clone does not run'],
    ['NotAnswered', 'CrashLoopBackOff', 'requests do not arrive'],
    ['NotAnswered', 'NoPodReady', 'requests do not arrive'],
  ])('tells progress from a problem: Routed is %s, WorkloadsReady is %s', (routed, workloads, expected) => {
    expect(problem(routed, workloads)).toBe(expected);
  });

  test('returns the reason of a stalled environment, and nothing for a ready one or an outdated status', () => {
    const stalled = [condition('Ready', 'False', ''), condition('Stalled', 'True', 'no base')];
    expect(problemOf(environment({}, { state: 'degraded' }, stalled))).toBe('no base');
    expect(problemOf(environment({}, { state: 'ready' }, [condition('Ready', 'True', 'fine')]))).toBeUndefined();
    const crashed = [condition('WorkloadsReady', 'False', 'it crashes', 'CrashLoopBackOff')];
    expect(problemOf(environment({}, { observedGeneration: 0 }, crashed))).toBeUndefined();
  });

  test('counts a degraded state without conditions, as the original operator writes it', () => {
    expect(problemOf(environment({}, { state: 'degraded' }))).toBe('it is degraded');
  });
});

test('whyUnrouted says why no request is routed to an environment', () => {
  const cart = (unreached?: string): Partial<DynamicEnvStatus> => ({
    subsetsStatus: {
      'shop/cart': {
        deployment: { name: 'cart-shop-pr-7', namespace: 'shop', status: 'running' },
        ...(unreached !== undefined && { unreached }),
      },
    },
  });
  const now = Date.parse('2026-01-02T00:00:00Z');
  expect(whyUnrouted(environment({ asleep: true }, cart('not routed: it is asleep')), now)).toBe(
    'it is asleep: "offshoot env wake pr-7 -n shop" wakes it',
  );
  expect(whyUnrouted(environment({ paused: true }, cart()), now)).toBe(
    'it is paused: only its status is written until spec.paused is unset',
  );
  const { metadata, spec, ...rest } = environment({}, cart());
  const created = { ...metadata, creationTimestamp: '2026-01-01T00:00:00Z' };
  const expiring: DynamicEnv = { ...rest, metadata: created, spec: { ...spec, ttl: { duration: '8h' } } };
  expect(whyUnrouted(expiring, now)).toBe('it expired at 2026-01-01T08:00:00Z');
  expect(whyUnrouted(expiring, Date.parse('2026-01-01T07:00:00Z'))).toBeUndefined();
  expect(whyUnrouted(environment({}, cart('not routed yet')), now)).toBe('shop/cart: not routed yet');
  expect(whyUnrouted(environment({}, cart()), now)).toBeUndefined();
});

test.each([
  ['running', undefined, undefined, '1/1'],
  ['running', 'a change is held back', undefined, '0/1'],
  ['running', undefined, 'not routed yet', '0/1'],
  ['updating', undefined, undefined, '0/1'],
])('readyCount counts a clone that is %s (%s, %s) as %s', (status, message, unreached, expected) => {
  const deployment = { name: 'cart-shop-pr-7', namespace: 'shop', status, ...(message !== undefined && { message }) };
  const cart = { deployment, ...(unreached !== undefined && { unreached }) };
  expect(readyCount(environment({}, { subsetsStatus: { 'shop/cart': cart } }))).toBe(expected);
});
