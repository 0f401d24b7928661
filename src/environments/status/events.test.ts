import { expect, test } from 'vitest';
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { eventsOf } from './events.ts';
import type { EnvironmentStatus } from './status.ts';

const FAILED = "ImagePullBackOff: container app: image shop:2 can't be pulled: not found";
const crashed = (code: number) => `CrashLoopBackOff: container app: ended with exit code ${code}`;

/** The status of an environment with clones, by name with what is wrong with them. */
function statusOf(clones: Readonly<Record<string, string>>, errors: readonly string[] = []): EnvironmentStatus {
  const messages = [...Object.values(clones), ...errors].filter((message) => message !== '');
  const condition = { type: 'WorkloadsReady', status: 'False', reason: 'NotRunning', message: messages.join('; ') };
  return {
    state: 'processing',
    conditions: [{ type: 'Ready', status: 'False', reason: 'Processing', message: messages.join('; ') }, condition],
    subsetsStatus: Object.fromEntries(
      Object.entries(clones).map(([name, message]) => [
        `shop/${name}`,
        {
          deployment: { name, namespace: 'shop', status: 'initializing', ...(message !== '' && { message }) },
          ...(errors.length > 0 && { subsetErrors: { subset: errors.map((error) => ({ error })) } }),
        },
      ]),
    ),
  } as unknown as EnvironmentStatus;
}

const notes = (before: EnvironmentStatus, next: EnvironmentStatus) => {
  const env = {
    apiVersion: 'v',
    kind: 'DynamicEnv',
    metadata: { name: 'e', namespace: 'shop' },
    spec: {},
    status: before,
  };
  return eventsOf(env as unknown as DynamicEnv, next).map(({ note }) => note);
};

test('each clone that does not run gets an Event, also if another one fails for the same reason', () => {
  const [none, first, both] = [
    statusOf({ a: '', b: '' }),
    statusOf({ a: FAILED, b: '' }),
    statusOf({ a: FAILED, b: FAILED }),
  ];
  expect(notes(none, first)).toEqual([`Deployment shop/a: ${FAILED}`]);
  expect(notes(first, both)).toEqual([`Deployment shop/b: ${FAILED}`]);
  expect(notes(both, both)).toEqual([]);
});

test('a reason that is part of the last one is new', () => {
  expect(notes(statusOf({ a: crashed(137) }), statusOf({ a: crashed(1) }))).toEqual([
    `Deployment shop/a: ${crashed(1)}`,
  ]);
});

test('an error of a second subset with the text of the first gets an Event', () => {
  const error = 'no host is common to the rules and the VirtualServices';
  const before = statusOf({ a: '' }, [error]);
  const next = statusOf({ a: '', b: '' }, [error]);
  expect(notes(before, next)).toEqual([`shop/b: ${error}`]);
});
