import { describe, expect, test } from 'vitest';
import { cloneProblem, isAvailable } from './clone-state.ts';
import type { Deployment, Pod } from '../objects.ts';

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

test('a clone does not run because of its new pod, rather than of the evicted one that it replaces', () => {
  const pod = (status: Pod['status']): Pod => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, status });
  const evicted = pod({ phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' });
  const waiting = { waiting: { reason: 'ContainerCreating' } };
  const created = pod({ phase: 'Pending', containerStatuses: [{ name: 'cart', ready: false, state: waiting }] });
  const reason = 'FailedAttachVolume';
  const event = { apiVersion: 'v1', kind: 'Event', metadata: { name: 'x' }, reason, message: 'in use' };
  const problem = cloneProblem(clone(0, 'False'), [evicted, created], [event]);
  expect(problem?.message).toBe('FailedAttachVolume: in use');
  expect(cloneProblem(clone(0, 'False'), [evicted, created])?.reason).toBe('Evicted');
});
