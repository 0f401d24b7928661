// What is said of the past must be able to be wrong.
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

async function live(...phases: readonly (readonly [typeof Claim, string])[]): Promise<void> {
  await api.create(Claim, object('Claim'));
  await api.create(Target, object('Target'));
  for (const [kind, phase] of phases) {
    await writeStatus(kind, { phase });
  }
  await until(() => history.versions.length >= phases.length + 2);
}

describe('order', () => {
  test('of what came to be', async () => {
    await live([Target, 'Bound'], [Claim, 'Bound'], [Claim, 'Lost'], [Claim, 'Bound']);
    const bound = phase('Claim', 'Bound');
    expect(history.orderProblem([phase('Target', 'Bound'), bound, phase('Claim', 'Lost'), bound])).toBeUndefined();
  });

  test('the other way round, although both still are in the end', async () => {
    await live([Claim, 'Bound'], [Target, 'Bound']);
    await writeStatus(Claim, { more: true });
    await until(() => history.versions.length === 5);
    expect(history.orderProblem([phase('Target', 'Bound'), phase('Claim', 'Bound')])).toMatch('was, but not after');
  });

  test('what never was', async () => {
    await live([Claim, 'Bound']);
    expect(history.orderProblem([phase('Claim', 'Lost')])).toMatch('never was');
    expect(history.orderProblem([object('Claim', { gone: true })])).toMatch('never was');
  });

  test('what went', async () => {
    await live();
    await api.delete(Target, { name: 'a', namespace: 'n' });
    await api.delete(Claim, { name: 'a', namespace: 'n' });
    await until(() => history.versions.length === 4);
    const [target, claim] = [object('Target', { gone: true }), object('Claim', { gone: true })];
    expect(history.orderProblem([target, claim])).toBeUndefined();
    expect(history.orderProblem([claim, target])).toMatch('was, but not after');
  });
});

test('phases, all of them', async () => {
  await live([Claim, 'Pending'], [Target, 'Pending'], [Claim, 'Bound'], [Claim, 'Lost']);
  const problem = (...phases: string[]) => history.phasesProblem(object('Claim', { phases }));
  expect(problem('Pending', 'Bound', 'Lost')).toBeUndefined();
  expect(problem('New?', 'Pending', 'Bound?', 'Lost')).toBeUndefined();
  expect(problem('Pending', 'Bound', 'Lost', 'Bound')).toMatch('was');
  expect(problem('Pending', 'Lost')).toMatch('was Pending, Bound, Lost, not Pending, Lost');
});
