// A plan shows what is created for a claim that expires soon, and when it expires, instead of its end.
import { expect, test } from 'vitest';
import { DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import { forecast } from '../../controller/index.ts';
import { Tables } from '../../kube/index.ts';
import { targets } from '../index.ts';
import { Namespace } from '../objects.ts';
import { targetTables } from '../tables.ts';
import { NOW, object } from '../testing/planning.ts';
import type { ClaimPlan } from './claim-plan.ts';
import { planClaims } from './claim-plan.ts';

const DEV = { name: 'dev', namespace: 'team' };
const controllers = targets({
  hostNamespace: 'offshoot-system',
  cluster: { name: 'local', roles: [], server: 'https://x' },
});

function tablesWithClass(): Tables {
  const tables = new Tables(targetTables);
  const spec = { provisioner: 'offshoot.dev/namespace', reclaimPolicy: 'Delete' };
  tables.of(DeploymentTargetClass).observe(object(DeploymentTargetClass, 'local', { spec }));
  tables.of(Namespace).observe(object(Namespace, 'team', { status: { phase: 'Active' } }));
  return tables;
}

const creation = (ttl: string, deploymentTargetClassName = 'local') => {
  const put = { apiVersion: 'appstudio.redhat.com/v1alpha1', kind: 'DeploymentTargetClaim', metadata: DEV };
  return { kind: DeploymentTargetClaim, put: { ...put, spec: { deploymentTargetClassName, ttl } } };
};

/** The tables after the controllers have bound a claim. */
function tablesWithClaim(ttl: string): Tables {
  const tables = tablesWithClass();
  const { changes } = forecast({ controllers, tables, now: NOW, intents: [creation(ttl)] });
  for (const { kind, after } of changes) tables.of(kind).observe(after!);
  return tables;
}

const linesOf = ({ changes }: ClaimPlan): string[] => changes.map((change) => `${change.do} ${change.kind}`);

test.each(['5s', '5ms'])('a new claim that expires after %s is created', (ttl) => {
  const made = planClaims({ controllers, tables: tablesWithClass(), now: NOW + 300, intents: [creation(ttl)] });
  expect(linesOf(made)).toEqual(
    expect.arrayContaining(['make DeploymentTargetClaim', 'make Namespace', 'make DeploymentTarget']),
  );
  expect(made.claims).toEqual([{ claim: 'team/dev', phase: 'Bound', target: 'dev-dt', expiresAfter: ttl }]);
});

test('a claim that nobody binds has the time to live that begins when it is bound', () => {
  const made = planClaims({ controllers, tables: tablesWithClass(), now: NOW, intents: [creation('5s', 'none')] });
  expect(made.claims).toMatchObject([{ phase: 'Pending', expiresAfter: '5s' }]);
});

test('nothing is to do for a claim that expires within the horizon, and it is removed once it has expired', () => {
  const tables = tablesWithClaim('30s');
  const planAt = (now: number): ClaimPlan => planClaims({ controllers, tables, now, claims: [DEV] });
  const soon = planAt(NOW + 28_000);
  expect(linesOf(soon)).toEqual([]);
  expect(soon.claims).toMatchObject([
    { phase: 'Bound', expiresAt: expect.stringMatching(/^2026-01-01T00:10:3/) as string },
  ]);
  const late = planAt(NOW + 60_000);
  expect(linesOf(late)).toEqual(expect.arrayContaining(['remove Namespace', 'remove DeploymentTargetClaim']));
  expect(late.claims).toEqual([{ claim: 'team/dev', phase: 'Gone' }]);
});
