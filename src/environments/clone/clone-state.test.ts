import { describe, expect, test } from 'vitest';
import { isAvailable } from './clone-state.ts';
import type { Deployment } from '../objects.ts';

/** A clone with this many ready pods, and a condition Available. */
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

describe('isAvailable', () => {
  test.each([
    ['pods are ready, but not yet for minReadySeconds', clone(3, 'False'), true],
    ['no pod is ready', clone(undefined, 'False'), false],
    ['the Deployment is available', clone(1, 'True'), true],
  ])('says whether a pod of a clone answers requests: %s', (_, deployment, answers) => {
    expect(isAvailable(deployment, 'running')).toBe(answers);
  });
});
