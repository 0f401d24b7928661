// README and docs do what they say: every code block is run, or checked as far as it can be. A page is a session on a
// cluster of "offshoot up", from top to bottom; environments of one section are gone in the next.
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
import { codeBlocks, missingLines } from './support/code-blocks.ts';
import type { CodeBlock } from './support/code-blocks.ts';
import { GATEWAY, kubectl, openDesk } from './support/desk.ts';
import type { Desk } from './support/desk.ts';
import { until } from './support/until.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: ROOT }).toSorted()];
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const blocks = pages.flatMap((page) => codeBlocks(page, read(page)));
const ofLanguage = (language: string): CodeBlock[] => blocks.filter((block) => block.language === language);
const titled = (each: readonly CodeBlock[]): [string, CodeBlock][] => each.map((block) => [block.place, block]);

test('every block says what it is in a language that is looked at here', () => {
  expect(new Set(blocks.map(({ language }) => language))).toEqual(new Set(['', 'sh', 'text', 'ts', 'yaml'])); // text: an example, and not the output of what stands above
});

test.each(titled(ofLanguage('yaml')))('YAML is valid: %s', (_place, { code }) => {
  for (const { problems } of parseYaml(code)) expect(problems).toEqual([]);
  const { findings } = checkManifests([['block', code]], 'default', [environmentCheck, ...claimChecks]);
  expect(findings.filter(({ isWarning }) => !isWarning)).toEqual([]);
});

const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };
/** Of lines that only start something that the tests are themselves, or that takes what not everybody has. */
const GIVEN = /^(npm (install|start|test|run)|npx vitest|node test|KUBECONFIG_TEST=|offshoot up)/;

test.each(titled(blocks.filter(({ code }) => /^(npm|npx|node) /m.test(code))))(
  'what it starts is there: %s',
  (_place, { code }) => {
    for (const [, script] of code.matchAll(/npm run ([\w:-]+)/g)) expect(Object.keys(scripts)).toContain(script);
    for (const [file] of code.matchAll(/\btest\/[\w/.-]+/g)) expect(globSync(file, { cwd: ROOT })).toEqual([file]);
  },
);

/** A plan with changes ends with 2, and controllers run until they are stopped. */
const PRELUDE = `
set -euo pipefail
npx() { "$@"; }
offshoot() {
  if [ "$1" = run ]; then
    # The pages speak of a cluster that no controller manages yet.
    kubectl delete leases -n kube-system --all > /dev/null
    command offshoot "$@" --metrics-bind-address 0 --health-probe-bind-address 0 > run.log 2>&1 &
    pid=$!
    until grep -q '"msg":"running"' run.log; do kill -0 $pid; done
    kill $pid
    wait $pid
  elif [ "$1" = plan ] || [ "\${2:-}" = plan ]; then
    command offshoot "$@" || [ $? -eq 2 ]
  else
    command offshoot "$@"
  fi
}
`;
/** What a page takes for granted. */
const BEFORE: Readonly<Record<string, string>> = {
  'docs/guide/explain.md': 'kubectl apply -f examples/shop.yaml',
  'docs/guide/prove.md': 'kubectl apply -f examples/shop.yaml',
  'docs/guide/gitops.md': 'kubectl apply -f examples/shop.yaml',
  'docs/guide/routing.md': `kubectl apply -f - <<EOF
{"apiVersion": "supergloo.solo.io/v1", "kind": "Mesh", "metadata": {"name": "payments", "namespace": "default"},
 "spec": {"awsAppMesh": {"region": "us-east-1"}}}
EOF`,
};

/** Pages for a cluster with pods that run: test/node/quick-start.test.ts runs their commands. */
const ON_A_NODE = new Set(['docs/guide/quick-start.md']);
const sessions = pages.filter(
  (page) =>
    !ON_A_NODE.has(page) && blocks.some(({ place, language }) => place.startsWith(`${page}:`) && language === 'sh'),
);

describe.skipIf(kubectl === undefined).each(sessions)('the commands of %s', (page) => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await openDesk({ hasShop: read(page).includes(GATEWAY) });
    const { code, output } = await desk.run(`${PRELUDE}${BEFORE[page] ?? ''}`);
    if (code !== 0) throw new Error(output);
  });
  afterAll(() => desk?.close());

  const own = blocks.filter(({ place }) => place.startsWith(`${page}:`));
  let section = '';
  test.each(titled(own.filter(({ language }) => language === 'sh')))(
    'do what they say: %s',
    { timeout: 180_000 },
    async (_place, block) => {
      if (section !== block.section) await desk.run('kubectl delete dynamicenvs -A --all --timeout 60s');
      ({ section } = block);
      const lines = block.code.split('\n').filter((line) => !GIVEN.test(line));
      const { code, output } = await desk.run(`${PRELUDE}${lines.join('\n')}\n`);
      expect(code, output).toBe(0);
      expect(missingLines(own, block, output)).toEqual([]);
    },
  );
});

describe('programs', () => {
  const examples = new Set(globSync('examples/*.ts', { cwd: ROOT }).map((file) => read(file).trimEnd()));
  // Those that are shown as they are in examples/ are run by examples.test.ts.
  const alone = ofLanguage('ts').filter(({ code }) => !examples.has(code));
  let desk: Desk;
  beforeAll(async () => {
    desk = await openDesk();
  });
  afterAll(() => desk?.close());

  /** How it is seen that a program works, by a word of it. */
  const proofs: Readonly<Record<string, (client: Client) => Promise<void>>> = {
    "name: 'teams'": aTeamHasItsNamespace,
  };

  test.each(titled(alone))('works: %s', { timeout: 60_000 }, async (_place, { code }) => {
    const [, proof] = Object.entries(proofs).find(([word]) => code.includes(word)) ?? [];
    expect(proof, 'say in "proofs" how to see that it works').toBeDefined();
    const file = path.join(desk.dir, 'program.ts');
    writeFileSync(file, code);
    const libraries = new URL('support/libraries-from-source.ts', import.meta.url).href;
    const child = spawn(process.execPath, ['--import', libraries, file], { env: desk.env, stdio: 'pipe' });
    onTestFinished(() => void child.kill('SIGKILL'));
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const failed = once(child, 'exit').then(() => {
      throw new Error(`it ended: ${errors}`);
    });
    await Promise.race([proof!(desk.client), failed]);
    child.kill('SIGKILL');
    await failed.catch(() => undefined);
    expect(errors).not.toMatch(/"level":(40|50|60)/);
  });
});

async function aTeamHasItsNamespace(client: Client): Promise<void> {
  const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
    namespaced: false,
  });
  const Team = defineKind('example.dev/v1', 'Team', 'teams', { namespaced: false });
  const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
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
  await client.create(Definition, definition);
  const team = { apiVersion: 'example.dev/v1', kind: 'Team', metadata: { name: 'blue' } };
  await until(
    () =>
      client.create(Team, team).then(
        () => true,
        () => false,
      ),
    20_000,
  );
  const isThere = (): Promise<boolean> =>
    client.get(Namespace, { name: 'team-blue' }).then(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
      () => false,
    );
  await until(isThere, 30_000);
  // And it goes with its team.
  await client.delete(Team, team.metadata);
  await until(async () => !(await isThere()), 30_000);
}
