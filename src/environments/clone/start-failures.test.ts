import { expect, test } from 'vitest';
import { startProblem } from './start-failures.ts';
import type { PodEvent } from './start-failures.ts';

const event = (reason: string, message: string): PodEvent => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: reason, namespace: 'shop' },
  reason,
  message,
});

test.each([
  [
    'FailedMount',
    'MountVolume.SetUp failed for volume "keys" : secret "keys" not found',
    'FailedMount: volume keys: secret "keys" not found',
  ],
  [
    'FailedMount',
    'Unable to attach or mount volumes: unmounted volumes=[b a], unattached volumes=[a b]: timed out',
    "FailedMount: its volumes can't be mounted",
  ],
  [
    'FailedAttachVolume',
    'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) cart-7d-x',
    'FailedAttachVolume: Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) cart-7d-x',
  ],
  [
    'FailedAttachVolume',
    'AttachVolume.Attach failed for volume "pvc-1" : rpc error: no such disk',
    'FailedAttachVolume: volume pvc-1: rpc error: no such disk',
  ],
  [
    'FailedAttachVolume',
    'Multi-Attach error for volume "pvc-1f0e6a51-8a5d-4a55-9d0c-0123456789ab" Volume is already used by pod(s) cart-7d-x',
    'FailedAttachVolume: Multi-Attach error for volume "pvc-1f0e6a51-8a5d-4a55-9d0c-0123456789ab" Volume is already used by pod(s) cart-7d-x',
  ],
  [
    'FailedAttachVolume',
    'AttachVolume.Attach failed for volume "pvc-1" : rpc error: could not attach volume "vol-0123456789abcdef0": RequestID: 1f0e6a51-8a5d-4a55-9d0c-0123456789ab, InvalidVolume',
    'FailedAttachVolume: volume pvc-1: rpc error: could not attach volume "vol-0123456789abcdef0": RequestID: …, InvalidVolume',
  ],
  [
    'FailedCreatePodSandBox',
    'Failed to create pod sandbox: failed to setup network for sandbox "0123456789abcdef": no address left',
    'FailedCreatePodSandBox: Failed to create pod sandbox: failed to setup network for sandbox "…": no address left',
  ],
  [
    'FailedCreatePodSandBox',
    `Failed to create pod sandbox: no cgroup "cri-containerd-${'0a'.repeat(32)}.scope"`,
    'FailedCreatePodSandBox: Failed to create pod sandbox: no cgroup "cri-containerd-….scope"',
  ],
])('says why containers are not created: %s, %s', (reason, message, told) => {
  expect(startProblem([event(reason, message)])).toEqual({ reason, message: told });
});

test('reports one of several problems, always the same', () => {
  const events = [
    event('FailedAttachVolume', 'x'),
    event('FailedMount', 'MountVolume.SetUp failed for volume "b" : no'),
    event('FailedMount', 'MountVolume.SetUp failed for volume "a" : no'),
  ];
  for (const some of [events, events.toReversed()])
    expect(startProblem(some)?.message).toBe('FailedMount: volume a: no');
  expect(startProblem([])).toBeUndefined();
});
