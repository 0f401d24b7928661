import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { partsOf } from './parts.ts';

const LEASES = {
  // As Riskified's operator, managed-gitops and Kyma's Istio operator name theirs: another name excludes none of them.
  environments: 'dynamic-environment-lock',
  targets: '53746cb8.redhat.com',
  routing: 'offshoot-routing',
  mesh: '76223278.kyma-project.io',
};

test('each part uses the Lease of the operator that it replaces', () => {
  expect(Object.fromEntries(partsOf().map(({ name, lease }) => [name, lease]))).toEqual(LEASES);
});

test('the documentation lists the Lease of each part', () => {
  const page = readFileSync(new URL('../../../docs/operations/controllers.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z]+)` \| `([^`]+)` \|/gm)];
  expect(Object.fromEntries(rows.map(([, part, lease]) => [part, lease]))).toEqual(LEASES);
});
