// The examples for pull requests work: the jobs for GitHub and GitLab are run line by line on a cluster, with fakes of
// the forge's commands, and the environment that Argo CD would create is validated.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { DynamicEnv } from '../src/api/dynamicenv.ts';
import { environmentCheck } from '../src/cli/env/check.ts';
import { checkManifests } from '../src/cli/manifests/check.ts';
import { kubectl, openDocsSession } from './support/docs-session.ts';
import type { DocsSession } from './support/docs-session.ts';
import { writeProgram } from './support/write-program.ts';

const FOLDER = path.resolve(import.meta.dirname, '../examples/pull-request');
const read = (name: string): string => readFileSync(path.join(FOLDER, name), 'utf8');

/** A fake command that records its calls, and the comment that it was given. */
const FAKE_COMMAND =
  '#!/bin/sh\necho "$(basename "$0") $*" >> calls\nfor file in comment.*; do [ ! -e "$file" ] || cat "$file" >> comments; done\n';

describe.skipIf(kubectl === undefined)('an environment for each pull request', () => {
  let session: DocsSession;
  beforeAll(async () => {
    session = await openDocsSession();
    for (const name of ['docker', 'gh', 'curl', 'npm']) {
      writeProgram(path.join(session.dir, 'bin', name), FAKE_COMMAND);
    }
    await session.run('kubectl apply -f examples/shop.yaml');
  });
  afterAll(() => session?.close());

  const environments = async (): Promise<readonly (readonly unknown[])[]> =>
    (await session.client.list(DynamicEnv, { namespace: 'shop' })).items.map(({ metadata, spec, status }) => [
      metadata.name,
      spec?.subsets?.[0]?.containers?.[0]?.image,
      status?.state,
    ]);
  /** Runs the lines of a job in order; resolves with the recorded calls and comments. */
  async function run(lines: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
    const variables = Object.entries(env).map(([name, value]) => `export ${name}='${value}'`);
    const script = ['set -eu', 'rm -f calls comments', 'touch calls comments', ...variables, ...lines];
    const { code, output } = await session.run([...script, 'cat calls comments'].join('\n'));
    expect(code, output).toBe(0);
    return output;
  }

  test('is created and deleted by GitHub Actions', { timeout: 120_000 }, async () => {
    const { env, jobs } = parse(read('github.yaml')) as {
      env: Readonly<Record<string, string>>;
      jobs: Readonly<Record<string, { steps: readonly { name?: string; run?: string }[] }>>;
    };
    const given = { 'github.event.number': '7', 'github.repository': 'example/orders', 'github.token': 't' };
    const context: Readonly<Record<string, string>> = { ...given, 'github.event.pull_request.head.sha': 'abc' };
    const filled = Object.entries(env).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{\{ ([\w.]+) \}\}/g, (_all, key: string) => context[key] ?? `unknown ${key}`),
    ]);
    const variables = { ...(Object.fromEntries(filled) as Record<string, string>), GITHUB_ACTOR: 'alice' };
    const lines = (job: string): readonly string[] =>
      jobs[job]!.steps.flatMap(({ name, run: each }) =>
        each === undefined || name!.startsWith('Log in') ? [] : [each],
      );

    const recorded = await run(lines('create'), variables);
    expect(await environments()).toEqual([['pr-7', 'ghcr.io/example/orders:abc', 'ready']]);
    expect(recorded).toContain('docker push ghcr.io/example/orders:abc');
    expect(recorded).toContain('gh pr comment 7 --edit-last');
    expect(recorded).toMatch(/Requests with `x-env: pr-7` reach this change\.\n```\nEnvironment shop\/pr-7 {2}ready/);
    // Another push.
    await run(lines('create'), { ...variables, IMAGE: 'ghcr.io/example/orders:def' });
    expect(await environments()).toEqual([['pr-7', 'ghcr.io/example/orders:def', 'ready']]);
    await run([...lines('delete'), ...lines('delete')], variables);
    expect(await environments()).toEqual([]);
  });

  test('is created and deleted by GitLab CI', { timeout: 120_000 }, async () => {
    const jobs = parse(read('gitlab.yaml')) as Record<string, { script: readonly string[] }>;
    const { variables } = parse(read('gitlab.yaml')) as { variables: Readonly<Record<string, string>> };
    const given: Readonly<Record<string, string>> = {
      CI_MERGE_REQUEST_IID: '9',
      CI_REGISTRY_IMAGE: 'registry.example/orders',
      CI_COMMIT_SHA: 'abc',
      CI_API_V4_URL: 'https://gitlab.example/api/v4',
      CI_PROJECT_ID: '1',
      API_TOKEN: 't',
    };
    const filled = Object.entries(variables).map(([name, value]) => [
      name,
      value.replaceAll(/\$(\w+)/g, (_all, key: string) => given[key] ?? `unknown ${key}`),
    ]);
    const env = { ...given, ...(Object.fromEntries(filled) as Record<string, string>) };
    const recorded = await run(jobs['create-environment']!.script, env);
    expect(await environments()).toEqual([['mr-9', 'registry.example/orders:abc', 'ready']]);
    expect(recorded).toContain('https://gitlab.example/api/v4/projects/1/merge_requests/9/notes');
    expect(recorded).toContain('Environment shop/mr-9  ready');
    await run(jobs['delete-environment']!.script, env);
    expect(await environments()).toEqual([]);
  });
});

test('the ApplicationSet for Argo CD creates a valid environment', () => {
  const { spec } = parse(read('applicationset.yaml')) as {
    spec: { template: { spec: { source: { kustomize: { patches: readonly { patch: string }[] } } } } };
  };
  const [{ patch }] = spec.template.spec.source.kustomize.patches as [{ patch: string }];
  const filled = patch.replaceAll('{{.number}}', '7').replaceAll('{{.head_sha}}', 'abc');
  const environment = parse(read('environment/environment.yaml')) as DynamicEnv;
  for (const { path: pointer, value } of parse(filled) as readonly { path: string; value: string }[]) {
    const steps = pointer.slice(1).split('/');
    const last = steps.pop()!;
    const parent = steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], environment);
    // Kustomize fails to replace a missing field.
    expect(parent).toHaveProperty(last);
    (parent as Record<string, unknown>)[last] = value;
  }
  expect(environment.spec).toMatchObject({
    key: 'pr-7',
    subsets: [{ containers: [{ image: 'example.com/orders:abc' }] }],
  });
  const { findings } = checkManifests([['made', JSON.stringify(environment)]], 'default', [environmentCheck]);
  expect(findings).toEqual([]);
});
