// Environments work in the sample shop of `up`: doctor finds no problem.
import { expect, test } from 'vitest';
import { factsOf } from '../../src/controller/index.ts';
import { defaultSettings, diagnose, doctorTables } from '../../src/environments/index.ts';
import { tablesOf } from '../../src/kube/index.ts';
import { shopObjects } from '../../src/playground/shop.ts';
import { untracked } from '../../src/watchable/index.ts';

test('doctor finds no problem in the sample shop', () => {
  const objects = shopObjects().map(({ object }) => object);
  const facts = factsOf(tablesOf(doctorTables, objects), untracked);
  const { workloads, findings } = diagnose(facts, defaultSettings);
  expect(workloads).toBeGreaterThan(3);
  expect(findings.filter(({ severity }) => severity !== 'note')).toEqual([]);
});
