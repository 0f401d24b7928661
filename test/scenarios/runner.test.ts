// The scenario runner itself: its assertions can fail.
import { expect, test } from 'vitest';
import type { AnyObject } from '../../src/kube/objects.ts';
import { difference } from './difference.ts';
import type { ClusterActions } from './cluster-actions.ts';
import { main } from './run.ts';
import { play } from './runner.ts';
import type { Move } from './scenario.ts';

test.each<[wanted: unknown, found: unknown, wrong: string | undefined]>([
  [{ a: 1 }, { a: 1, b: 2 }, undefined],
  [{ a: { b: 1 } }, { a: { b: 2 } }, 'a.b is 2 instead of 1'],
  [{ a: 1 }, {}, 'a is missing instead of 1'],
  [{ a: null }, {}, undefined],
  [{ a: null }, { a: 0 }, 'a is there: 0'],
  [{ a: {} }, {}, 'a is missing'],
  [{ a: { b: null } }, {}, undefined],
  [{ a: { b: 1 } }, {}, 'a.b is missing instead of 1'],
  [{ a: { b: 1 } }, { a: [1] }, 'a is [1]'],
  [{ a: [{ b: 1 }] }, { a: [{ b: 1, c: 2 }] }, undefined],
  [{ a: [1] }, { a: [1, 2] }, 'a has 2 entries instead of 1: [1,2]'],
  [{ a: [1, 2] }, { a: [2, 1] }, 'a[0] is 2 instead of 1'],
  [{ a: [] }, { a: {} }, 'a is {}, not a list'],
  [{ a: 9007199254740993n }, { a: 9007199254740992n }, 'a is "9007199254740992" instead of "9007199254740993"'],
  [
    { conditions: [{ type: 'B', status: 'True' }] },
    { conditions: [{ type: 'A' }, { type: 'B', status: 'True' }] },
    undefined,
  ],
  [
    { conditions: [{ type: 'B', status: 'True' }] },
    { conditions: [{ type: 'A' }] },
    'conditions[B].type is missing instead of "B"',
  ],
])('difference finds %o in %o, or says what differs', (wanted, found, wrong) => {
  expect(difference(wanted, found)).toBe(wrong);
});

const config = (data?: object, name: string | null = 'a'): AnyObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...(name !== null && { name }), namespace: 'n' } as AnyObject['metadata'],
  ...(data && { data }),
});

/** A cluster that returns these objects from the n-th read on. */
function actions(objects: readonly AnyObject[], fromRead = 1): ClusterActions {
  let reads = 0;
  const read = async (): Promise<readonly AnyObject[]> => (++reads >= fromRead ? objects : []);
  const refuse = (): never => {
    throw new Error('refused');
  };
  const write = { apply: refuse, patch: refuse, status: refuse, delete: refuse, deleting: refuse, wait: refuse };
  return { ...write, get: read, list: read };
}

const move = (does: Move['does'], ...objects: AnyObject[]): Move => ({ name: `00-${does}`, does, about: '', objects });

test('an assertion waits until it holds', async () => {
  const options = { actions: actions([config({ x: '1' })], 3) };
  await expect(play([move('assert', config({ x: '1' }))], options)).resolves.toBeUndefined();
});

test.each([
  [move('assert', config({ x: '2' })), '00-assert: ConfigMap n/a: data.x is "1" instead of "2"'],
  [move('assert', config(undefined, 'b')), '00-assert: ConfigMap n/b: there is none'],
  [move('assert', config({ x: '2' }, null)), '00-assert: ConfigMap n/*: data.x is "1" instead of "2"'],
  [move('errors', config()), '00-errors: ConfigMap n/a is there'],
  [move('errors', config({ x: '1' }, null)), '00-errors: ConfigMap n/* is there'],
  [move('apply', config()), '00-apply: refused'],
])('a failed move says what is wrong: %j', async (failing, message) => {
  const options = { actions: actions([config({ x: '1' })]), deadlineMs: 100 };
  await expect(play([failing], options)).rejects.toThrow(message);
});

test('the move `errors` accepts missing objects and objects with other fields', async () => {
  const absent = move('errors', config({ x: '2' }), config(undefined, 'b'), config({ x: '2' }, null));
  await expect(play([absent], { actions: actions([config({ x: '1' })]), deadlineMs: 100 })).resolves.toBeUndefined();
});

test('a patch without a name changes all objects with its labels', async () => {
  const labelled = (name: string, labels?: Record<string, string>): AnyObject => {
    const { metadata, ...rest } = config(undefined, name);
    return { ...rest, metadata: { ...metadata, ...(labels && { labels }) } };
  };
  const existing = [
    labelled('a', { x: '1', y: '1' }),
    labelled('b', { x: '2' }),
    labelled('c', { x: '1' }),
    labelled('d'),
  ];
  const patched: string[] = [];
  const patch = async ({ metadata }: AnyObject): Promise<void> => void patched.push(metadata.name);
  const wanted = { ...config(undefined, null), metadata: { labels: { x: '1' } } as unknown as AnyObject['metadata'] };
  await play([move('patch', wanted)], { actions: { ...actions(existing), patch } });
  expect(patched).toEqual(['a', 'c']);
});

test('the command prints every move of a scenario, and lists all scenarios for an unknown name', async () => {
  const lines: string[] = [];
  expect(await main(['nothing'], (line) => lines.push(line))).toBe(64);
  expect(lines.join('\n')).toContain('there is no scenario nothing');
  expect(lines.join('\n')).toContain('environments/consumer-only');

  lines.length = 0;
  expect(await main(['environments/consumer-only'], (line) => lines.push(line))).toBe(0);
  expect(lines[0]).toBe('environments/consumer-only');
  expect(lines.slice(1).map((line) => line.split(/ {2,}/)[2])).toEqual([
    '00-apply',
    '00-assert',
    '01-delete',
    '01-errors',
  ]);
});
