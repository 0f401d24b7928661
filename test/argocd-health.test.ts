// The health checks for Argo CD in the guide, run with Argo CD's version of Lua on environments, meshes and claims in
// each state.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { codeBlocks } from './support/code-blocks.ts';
import { describeRequiring } from './support/requirements.ts';
import type { Requirement } from './support/requirements.ts';

const PAGE = 'docs/guide/gitops.md';
const lua: Requirement = {
  what: 'lua5.1',
  missing: spawnSync('lua5.1', ['-v']).status === 0 ? undefined : 'lua5.1 is not installed: apt-get install lua5.1',
  variable: 'OFFSHOOT_SHELLS',
};
const page = readFileSync(path.resolve(import.meta.dirname, '..', PAGE), 'utf8');
const checks = new Map(
  codeBlocks(PAGE, page)
    .filter(({ language }) => language === 'yaml')
    .flatMap(({ code }) => Object.entries((parse(code) as { data?: Readonly<Record<string, string>> }).data ?? {}))
    .filter(([name]) => name.startsWith('resource.customizations.health.'))
    .map(([name, lua]) => [name.replace(/.*_/, ''), lua] as const),
);

/** A value as a Lua literal. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(literal).join(',')}}`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, each]) => `[${JSON.stringify(key)}]=${literal(each)}`)
      .join(',')}}`;
  }
  return JSON.stringify(value);
}

/** The result of a check: the health, and the message. */
function healthOf(kind: string, object: object): readonly string[] {
  const script = `local function check(obj)\n${checks.get(kind)}\nend
local found = check(${literal(object)})
print(found.status)
print(found.message)`;
  return execFileSync('lua5.1', ['-'], { input: script, encoding: 'utf8' }).trimEnd().split('\n');
}

const condition = (type: string, status: string, message = ''): object => ({ type, status, message, reason: 'Some' });

test('the guide has a check for each kind that users commit to Git', () => {
  expect([...checks.keys()].sort()).toEqual(['DeploymentTargetClaim', 'DynamicEnv', 'Istio']);
});

describeRequiring('the health check', [lua], () => {
  test.each([
    ['without a status', {}, ['Progressing', 'waiting for the controller']],
    ['that is ready', { conditions: [condition('Ready', 'True', 'fine')] }, ['Healthy', 'fine']],
    ['that is not ready', { conditions: [condition('Ready', 'False', '1 of 2')] }, ['Progressing', '1 of 2']],
    [
      'that is stalled',
      { conditions: [condition('Ready', 'False', 'no'), condition('Stalled', 'True', 'no image')] },
      ['Degraded', 'no image'],
    ],
  ])('of an environment %s', (_title, status, expected) => {
    expect(healthOf('DynamicEnv', { metadata: { name: 'pr-7', generation: 1 }, status })).toEqual(expected);
  });

  test('of an environment whose status is of an earlier generation is Progressing', () => {
    const status = { observedGeneration: 1, conditions: [condition('Ready', 'True', 'fine')] };
    const found = healthOf('DynamicEnv', { metadata: { name: 'pr-7', generation: 2 }, status });
    expect(found).toEqual(['Progressing', 'waiting for the controller']);
  });

  test.each([
    [{}, ['Progressing', 'waiting for the controller']],
    [{ state: 'Processing', description: 'Pilot' }, ['Progressing', 'Pilot']],
    [{ state: 'Deleting', description: 'Deleting Istio' }, ['Progressing', 'Deleting Istio']],
    [{ state: 'Ready', description: '' }, ['Healthy', 'ready']],
    [{ state: 'Warning', description: 'blocked' }, ['Degraded', 'blocked']],
    [{ state: 'Error', description: 'no' }, ['Degraded', 'no']],
  ])('of a mesh: %j', (status, expected) => {
    expect(healthOf('Istio', { metadata: { name: 'default' }, status })).toEqual(expected);
  });

  test.each([
    [{}, ['Progressing', 'waiting for the controller']],
    [{ phase: 'Pending' }, ['Progressing', 'Pending']],
    [{ phase: 'Bound' }, ['Healthy', 'Bound']],
    [{ phase: 'Lost' }, ['Degraded', 'Lost']],
    [
      { phase: 'Pending', conditions: [condition('ErrorOccurred', 'True', 'there is no class x')] },
      ['Degraded', 'there is no class x'],
    ],
  ])('of a claim: %j', (status, expected) => {
    expect(healthOf('DeploymentTargetClaim', { metadata: { name: 'staging' }, status })).toEqual(expected);
  });
});
