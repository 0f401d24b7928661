import { expect, test } from 'vitest';
import { StepFailed } from '../kube/write/apply.ts';
import { ApiError } from '../kube/errors.ts';
import { defineKind } from '../kube/objects.ts';
import { own } from '../kube/write/steps.ts';
import type { Step } from '../kube/write/steps.ts';
import type { Plan } from './definition.ts';
import { planAndApply } from './plan-and-apply.ts';
import type { Refusal } from './view.ts';

test('a refusal applies to one kind only, not to a kind of the same name in another group', async () => {
  const kinds = ['networking.istio.io/v1', 'gateway.networking.k8s.io/v1'].map((apiVersion) =>
    defineKind(apiVersion, 'Gateway', 'gateways'),
  );
  const metadata = { name: 'edge', namespace: 'team' };
  const makePlan = (refusal: Refusal): Plan => ({
    steps: kinds
      .filter((kind) => refusal(kind, metadata) === undefined)
      .map((kind) => own(kind, { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, metadata })),
  });
  const applied: string[] = [];
  const apply = async (steps: readonly Step[]): Promise<[]> => {
    for (const step of steps) {
      const { group } = step.kind;
      if (group === 'networking.istio.io')
        throw new StepFailed(step, new ApiError('no', { code: 403, reason: 'Forbidden' }), []);
      applied.push(group);
    }
    return [];
  };
  const { refused } = await planAndApply(makePlan, apply);
  expect([refused.map(({ step }) => step.kind.group), applied]).toEqual([
    ['networking.istio.io'],
    ['gateway.networking.k8s.io'],
  ]);
});
