import { expect, test } from 'vitest';
import type { DynamicEnv, DynamicEnvStatus } from '../../api/dynamicenv.ts';
import { messages } from '../status/messages.ts';
import { adviceFor } from './advice.ts';

const lastTransitionTime = '2026-01-01T00:00:00Z';

function environment(status: Partial<DynamicEnvStatus>): DynamicEnv {
  return {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: { name: 'pr-8', namespace: 'shop' },
    spec: { key: 'pr-8', subsets: [] },
    status: { subsetsStatus: {}, totalReady: 0, state: 'degraded', ...status },
  };
}

function baseless(status: string, unreached?: string): DynamicEnv {
  const error = messages.noBaseDeployment({ name: 'cart', namespace: 'shop' });
  return environment({
    subsetsStatus: {
      'shop/cart': {
        deployment: { name: 'cart-shop-pr-8', namespace: 'shop', status },
        subsetErrors: { deployment: [{ error, lastOccurrence: lastTransitionTime }] },
        ...(unreached !== undefined && { unreached }),
      },
    },
  });
}

test('adviceFor tells a deleted base from one that never existed', () => {
  expect(adviceFor(baseless('running'))).toEqual([
    'the base Deployment is gone; the clone still serves its requests: create the Deployment again, or delete the environment',
  ]);
  expect(adviceFor(baseless('missing'))).toEqual([
    'there is no such Deployment to clone: correct its name and namespace in the environment, or create it',
  ]);
});

test('adviceFor says that a clone without its base serves requests only if they reach it', () => {
  const kept = 'the base Deployment is gone; the clone is kept: create the Deployment again, or delete the environment';
  expect(adviceFor(baseless('running', messages.notRouted(undefined)))).toEqual([kept]);
  const error = messages.noBaseDeployment({ name: 'worker', namespace: 'shop' });
  const worker = {
    name: 'worker-shop-pr-8',
    namespace: 'shop',
    status: 'running',
    errors: [{ error, lastOccurrence: lastTransitionTime }],
  };
  expect(adviceFor(environment({ consumersStatus: { 'shop/worker': worker } }))).toEqual([kept]);
});

test('adviceFor suggests another key if another environment takes all requests', () => {
  const message = `shop/cart: ${messages.gotNothing(['environment shop/pr-7 in VirtualService shop/cart'])}`;
  const routed = { type: 'Routed', status: 'False', reason: 'Shadowed', message, lastTransitionTime } as const;
  expect(adviceFor(environment({ conditions: [routed] }))).toEqual([
    'create this environment again with another key, or delete the other one',
  ]);
});

test('adviceFor is empty for a ready environment', () => {
  expect(adviceFor(environment({ state: 'ready' }))).toEqual([]);
});
