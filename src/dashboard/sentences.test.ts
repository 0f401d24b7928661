import { expect, test } from 'vitest';
import type { EnvironmentRow } from './data.ts';
import { environmentSentence, listSentence, overviewSentence, planSentence } from './sentences.ts';

function row(fields: Partial<EnvironmentRow> = {}): EnvironmentRow {
  return {
    type: 'environment',
    namespace: 'shop',
    name: 'pr-7',
    state: 'ready',
    tone: 'good',
    created: '2026-01-01T00:00:00Z',
    ready: '1/1',
    match: 'x-env=pr-7',
    carries: 'x-env: pr-7',
    requests: '`x-env: pr-7`',
    replaces: [{ workload: 'shop/orders', images: ['orders:2'] }],
    ...fields,
  };
}
const bad = row({ name: 'pr-12', state: 'degraded', tone: 'bad', problem: "can't pull its image." });

test('an empty list does not say that nothing exists if the user may not read everything', () => {
  expect(overviewSentence([], { isRestricted: true })).toBe('There is no environment that you may read.');
  expect(listSentence('claim', [], { isRestricted: true })).toBe('There is no claim that you may read.');
  expect(listSentence('claim', [])).toBe('There is no claim.');
});

test.each<[string, readonly EnvironmentRow[]]>([
  ['There is no environment yet.', []],
  ['1 environment ready.', [row()]],
  ["2 environments ready, 1 needs attention: `pr-12` – can't pull its image.", [row(), bad, row()]],
  ['1 environment ready, 1 in progress.', [row(), row({ tone: 'busy' })]],
  [
    '1 environment ready, 1 paused, 1 asleep.',
    [row(), row({ tone: 'idle', state: 'asleep' }), row({ tone: 'idle', state: 'paused' })],
  ],
  ['1 environment asleep.', [row({ tone: 'idle', state: 'asleep' })]],
  ["1 environment needs attention: `pr-12` – can't pull its image.", [bad]],
])('overviewSentence: %s', (sentence, rows) => {
  expect(overviewSentence(rows)).toBe(sentence);
});

const isolation = { word: 'isolated', reason: 'Isolated', message: '', lastTransitionTime: '' };

test.each<[string, EnvironmentRow]>([
  [
    'Requests with `x-env: pr-7` reach `orders:2`; nobody else is affected (proved 3s ago).',
    row({ isolation: { ...isolation, status: 'True' } }),
  ],
  [
    'Requests with `x-env: pr-7` reach `orders:2`; nobody else in the mesh is affected (proved 3s ago).',
    row({ isolation: { ...isolation, status: 'True', message: 'every request in the mesh without its key …' } }),
  ],
  [
    'Requests with `x-env: pr-7` reach `orders:2`; but others are affected: GET / is moved.',
    row({ isolation: { ...isolation, status: 'False', message: 'GET / is moved.' } }),
  ],
  [
    'Requests with `x-env: pr-7` reach `orders:2`, except `x-env=pr-7` (environment shop/a); nobody else is affected (proved 3s ago).',
    row({
      isolation: { ...isolation, status: 'True' },
      exceptions: [{ match: 'x-env=pr-7', taker: 'environment shop/a' }],
    }),
  ],
  ["`pr-12` is not working: can't pull its image.", bad],
  [
    '`pr-7` is asleep: "offshoot env wake pr-7 -n shop" wakes it.',
    row({ tone: 'idle', state: 'asleep', problem: '"offshoot env wake pr-7 -n shop" wakes it' }),
  ],
  ['`pr-7` is being deleted.', row({ tone: 'idle', state: 'deleting' })],
])('environmentSentence: %s', (sentence, environment) => {
  expect(environmentSentence(environment, '3s')).toBe(sentence);
});

test('planSentence says when a plan reroutes requests of others', () => {
  const outcome = { environment: 'shop/pr-9', state: 'ready', requests: '`x-env: pr-9`' };
  const proof = {
    verdict: 'False',
    word: 'not isolated',
    reason: 'OtherRequestsMoved',
    message: 'GET / is moved',
    notes: [],
  } as const;
  const changes = [{ do: 'make' }, { do: 'change' }];
  expect(planSentence(changes, outcome)).toBe(
    'This makes 1 object, changes 1, and reroutes only requests with `x-env: pr-9`.',
  );
  expect(planSentence(changes, { ...outcome, proof })).toBe(
    'This makes 1 object, changes 1, and reroutes requests of others: GET / is moved.',
  );
  expect(planSentence([], outcome)).toBe('Nothing to do: `shop/pr-9` already matches this.');
});
