import { describe, expect, test } from 'vitest';
import { isAvailable } from './clone-state.ts';
import type { Deployment } from './objects.ts';

/** A clone with so many pods that are ready, and what its condition says. */
function clone(readyReplicas: number | undefined, available: 'True' | 'False'): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: { selector: {}, template: {} },
    status: {
      ...(readyReplicas !== undefined && { readyReplicas }),
      conditions: [{ type: 'Available', status: available }],
    },
  };
}

describe('whether some pod of a clone answers requests', () => {
  test.each([
    ['pods are ready, and have not been so for long', clone(3, 'False'), true],
    ['no pod is ready', clone(undefined, 'False'), false],
    ['the Deployment is available', clone(1, 'True'), true],
  ])('%s', (_, deployment, answers) => {
    expect(isAvailable(deployment, 'running')).toBe(answers);
  });
});
