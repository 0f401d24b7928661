// Every code block of README and docs is run, or checked as far as possible. A page is a session on a cluster of
// "offshoot up", from top to bottom, with a shell for each section; environments of one section are deleted before the
// next.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { checkManifests } from '../src/cli/manifests/check.ts';
import { claimChecks } from '../src/cli/claim/checks.ts';
import { environmentCheck } from '../src/cli/env/check.ts';
import { parseYaml } from '../src/cli/manifests/kubectl-yaml.ts';
import { defineKind } from '../src/kube/index.ts';
import type { AnyObject, Client } from '../src/kube/index.ts';
import { helms } from './chart/helm.ts';
import { codeBlocks, missingLines } from './support/code-blocks.ts';
import type { CodeBlock } from './support/code-blocks.ts';
import { CustomResourceDefinition, Namespace } from './support/core-kinds.ts';
import { GATEWAY, kubectl, openDocsSession } from './support/docs-session.ts';
import type { DocsSession } from './support/docs-session.ts';
import { BEFORE, NOT_RUN_LINES, PRELUDE, unexplained, WITHOUT_CONTROLLERS } from './support/page-commands.ts';
import { until } from './support/until.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: ROOT }).toSorted()];
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const blocks = pages.flatMap((page) => codeBlocks(page, read(page)));
const ofLanguage = (language: string): CodeBlock[] => blocks.filter((block) => block.language === language);
const titled = (each: readonly CodeBlock[]): [string, CodeBlock][] => each.map((block) => [block.place, block]);

test('every block has a language that is checked here', () => {
  expect(new Set(blocks.map(({ language }) => language))).toEqual(new Set(['', 'sh', 'text', 'ts', 'yaml'])); // text: an example, not the output of the block above
});

test('commands are in blocks that are run, or it is said why they are not', () => {
  expect(unexplained(blocks)).toEqual([]);
});

test('only pages about a checkout use npx, because nothing is installed globally there', () => {
  const users = pages.filter((page) => read(page).includes('npx offshoot'));
  expect(users).toEqual(['README.md', 'docs/guide/playground.md']);
});

test.each(titled(ofLanguage('yaml')))('YAML is valid: %s', (_place, { code }) => {
  for (const { problems } of parseYaml(code)) expect(problems).toEqual([]);
  const { findings } = checkManifests([['block', code]], 'default', [environmentCheck, ...claimChecks]);
  expect(findings.filter(({ isWarning }) => !isWarning)).toEqual([]);
});

const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };

test.each(titled(blocks.filter(({ code }) => /^(npm|npx|node) /m.test(code))))(
  'npm scripts and test files exist: %s',
  (_place, { code }) => {
    for (const [, script] of code.matchAll(/npm run ([\w:-]+)/g)) expect(Object.keys(scripts)).toContain(script);
    for (const [file] of code.matchAll(/\btest\/[\w/.-]+/g)) expect(globSync(file, { cwd: ROOT })).toEqual([file]);
  },
);

/** Pages that need real pods: test/node/quick-start.test.ts runs their commands. */
const ON_A_NODE = new Set(['docs/guide/quick-start.md']);
const sessions = pages.filter(
  (page) =>
    !ON_A_NODE.has(page) && blocks.some(({ place, language }) => place.startsWith(`${page}:`) && language === 'sh'),
);

/** Printed before the output of each block. */
const MARK = '\u0001';
const helm = helms.at(-1)!;

describe.skipIf(kubectl === undefined).each(sessions)('the commands of %s', (page) => {
  let session: DocsSession;
  const run = async (script: string): Promise<string> => {
    const { code, output } = await session.run(`${PRELUDE}${script}\n`);
    expect(code, output).toBe(0);
    return output;
  };
  beforeAll(async () => {
    session = await openDocsSession({
      hasShop: read(page).includes(GATEWAY),
      hasControllers: !WITHOUT_CONTROLLERS.has(page),
    });
    await run(BEFORE[page] ?? '');
  });
  afterAll(() => session?.close());

  const own = blocks.filter(({ place }) => place.startsWith(`${page}:`));
  const commands = own.filter(({ language }) => language === 'sh');
  for (const [section, parts] of Map.groupBy(commands, (block) => block.section)) {
    const define = (): void =>
      test(
        `work and print the output that the page shows: ${parts[0]!.place} ${section}`,
        { timeout: 300_000 },
        async () => {
          await session.run('kubectl delete dynamicenvs -A --all --timeout 60s');
          await run(BEFORE[`${page}#${section}`] ?? '');
          // In one shell, so that variables and background processes last until the end of the section.
          const scripts = parts.map(({ place, code }) => `printf '${MARK}%s\\n' '${place}'\n${runnable(code)}\n`);
          const outputs = (await run(scripts.join(''))).split(MARK).slice(1);
          expect(parts.flatMap((block, at) => missingLines(own, block, outputs[at] ?? ''))).toEqual([]);
        },
      );
    if (parts.some(({ code }) => /^helm /m.test(code))) helm.describeIt('with Helm', define);
    else define();
  }
});

function runnable(code: string): string {
  const lines = code.split('\n');
  return lines.filter((line) => !NOT_RUN_LINES.test(line)).join('\n');
}

describe('a TypeScript program', () => {
  const examples = new Set(globSync('examples/*.ts', { cwd: ROOT }).map((file) => read(file).trimEnd()));
  // Programs that are copies of examples/ are run by examples.test.ts.
  const alone = ofLanguage('ts').filter(({ code }) => !examples.has(code));
  let session: DocsSession;
  beforeAll(async () => {
    session = await openDocsSession();
  });
  afterAll(() => session?.close());

  /** How to check that a program works, by a text in it. */
  const proofs: Readonly<Record<string, (client: Client) => Promise<void>>> = {
    "name: 'teams'": teamGetsNamespace,
  };

  test.each(titled(alone))('works: %s', { timeout: 60_000 }, async (_place, { code }) => {
    const [, proof] = Object.entries(proofs).find(([word]) => code.includes(word)) ?? [];
    expect(proof, 'say in "proofs" how to see that it works').toBeDefined();
    const file = path.join(session.dir, 'program.ts');
    writeFileSync(file, code);
    const libraries = new URL('support/libraries-from-source.ts', import.meta.url).href;
    const child = spawn(process.execPath, ['--import', libraries, file], { env: session.env, stdio: 'pipe' });
    onTestFinished(() => void child.kill('SIGKILL'));
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const failed = once(child, 'exit').then(() => {
      throw new Error(`it ended: ${errors}`);
    });
    await Promise.race([proof!(session.client), failed]);
    child.kill('SIGKILL');
    await failed.catch(() => undefined);
    expect(errors).not.toMatch(/"level":(40|50|60)/);
  });
});

async function teamGetsNamespace(client: Client): Promise<void> {
  const Team = defineKind('example.dev/v1', 'Team', 'teams', { namespaced: false });
  const schema = { openAPIV3Schema: { type: 'object' } };
  const definition: AnyObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'teams.example.dev' },
    spec: {
      group: 'example.dev',
      scope: 'Cluster',
      names: { plural: 'teams', kind: 'Team' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
  await client.create(CustomResourceDefinition, definition);
  const team = { apiVersion: 'example.dev/v1', kind: 'Team', metadata: { name: 'blue' } };
  await until(
    () =>
      client.create(Team, team).then(
        () => true,
        () => false,
      ),
    20_000,
  );
  const exists = (): Promise<boolean> =>
    client.get(Namespace, { name: 'team-blue' }).then(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
      () => false,
    );
  await until(exists, 30_000);
  // The namespace is deleted with its team.
  await client.delete(Team, team.metadata);
  await until(async () => !(await exists()), 30_000);
}
