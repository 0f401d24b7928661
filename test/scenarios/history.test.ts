// The assertions about the history of objects can fail.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { defineKind } from '../../src/kube/objects.ts';
import type { AnyObject } from '../../src/kube/objects.ts';
import { FakeApi } from '../support/fake-api.ts';
import { until } from '../support/until.ts';
import { History } from './history.ts';

const Claim = defineKind('t/v1', 'Claim', 'claims');
const Target = defineKind('t/v1', 'Target', 'targets');
let api: FakeApi;
let history: History;

beforeEach(async () => {
  api = new FakeApi();
  history = await History.record(api, [Claim, Target]);
});
afterEach(() => history.stop());

const object = (kind: string, fields: object = {}): AnyObject => ({
  apiVersion: 't/v1',
  kind,
  metadata: { name: 'a', namespace: 'n' },
  ...fields,
});
const phase = (kind: string, phase: string): AnyObject => object(kind, { status: { phase } });

async function writeStatus(kind: typeof Claim, status: object): Promise<void> {
  const ref = { name: 'a', namespace: 'n' };
  await api.patch(kind, ref, { type: 'merge', body: { status } }, { subresource: 'status' });
}

async function recordPhases(...phases: readonly (readonly [typeof Claim, string])[]): Promise<void> {
  await api.create(Claim, object('Claim'));
  await api.create(Target, object('Target'));
  for (const [kind, phase] of phases) {
    await writeStatus(kind, { phase });
  }
  await until(() => history.versions.length >= phases.length + 2);
}

describe('orderProblem', () => {
  test('accepts states in the order in which objects reached them', async () => {
    await recordPhases([Target, 'Bound'], [Claim, 'Bound'], [Claim, 'Lost'], [Claim, 'Bound']);
    const bound = phase('Claim', 'Bound');
    expect(history.orderProblem([phase('Target', 'Bound'), bound, phase('Claim', 'Lost'), bound])).toBeUndefined();
  });

  test('rejects the reverse order, even if the objects are in both states at the end', async () => {
    await recordPhases([Claim, 'Bound'], [Target, 'Bound']);
    await writeStatus(Claim, { more: true });
    await until(() => history.versions.length === 5);
    expect(history.orderProblem([phase('Target', 'Bound'), phase('Claim', 'Bound')])).toMatch('was, but not after');
  });

  test('rejects a state that no object was ever in', async () => {
    await recordPhases([Claim, 'Bound']);
    expect(history.orderProblem([phase('Claim', 'Lost')])).toMatch('never was');
    expect(history.orderProblem([object('Claim', { gone: true })])).toMatch('never was');
  });

  test('knows the order of deletions', async () => {
    await recordPhases();
    await api.delete(Target, { name: 'a', namespace: 'n' });
    await api.delete(Claim, { name: 'a', namespace: 'n' });
    await until(() => history.versions.length === 4);
    const [target, claim] = [object('Target', { gone: true }), object('Claim', { gone: true })];
    expect(history.orderProblem([target, claim])).toBeUndefined();
    expect(history.orderProblem([claim, target])).toMatch('was, but not after');
  });
});

test('phasesProblem compares all phases of an object, and allows optional ones', async () => {
  await recordPhases([Claim, 'Pending'], [Target, 'Pending'], [Claim, 'Bound'], [Claim, 'Lost']);
  const problem = (...phases: string[]) => history.phasesProblem(object('Claim', { phases }));
  expect(problem('Pending', 'Bound', 'Lost')).toBeUndefined();
  expect(problem('New?', 'Pending', 'Bound?', 'Lost')).toBeUndefined();
  expect(problem('Pending', 'Bound', 'Lost', 'Bound')).toMatch('was');
  expect(problem('Pending', 'Lost')).toMatch('was Pending, Bound, Lost, not Pending, Lost');
});
