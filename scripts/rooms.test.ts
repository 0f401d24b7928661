import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { checkRooms, FOR_EMBEDDED } from './rooms.ts';

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

/** Creates files in a temporary folder. */
function tree(files: Record<string, string>): string {
  const root = mkdtempSync(path.join(tmpdir(), 'rooms-'));
  roots.push(root);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return root;
}

test('this repository follows the rules, and its modules were read', async () => {
  const report = await checkRooms(path.resolve(import.meta.dirname, '..'));
  expect(report.violations).toEqual([]);
  expect(report.modules).toBeGreaterThan(20);
});

test('an import to the left is allowed', async () => {
  const root = tree({
    'src/kube/a.ts': 'export const a = 1;',
    'src/environments/b.ts': "import { a } from '../kube/a.ts';\nexport const b = a;",
  });
  expect(await checkRooms(root)).toEqual({ modules: 2, violations: [] });
});

const forbiddenImports: [string, string, string, string][] = [
  ['kube using the controller', 'src/kube/a.ts', 'src/controller/b.ts', 'kube-imports-leftwards'],
  ['a product room using another', 'src/mesh/a.ts', 'src/targets/b.ts', 'mesh-imports-leftwards'],
  ['the embedded cluster using the product', 'src/embedded/a.ts', 'src/environments/b.ts', 'embedded-stands-alone'],
  ['the embedded cluster using the client', 'src/embedded/a.ts', 'src/kube/client/connect.ts', 'embedded-stands-alone'],
  ['a room using the terminal output', 'src/targets/a.ts', 'src/cli/terminal/b.ts', 'only-cli-imports-cli'],
  ['the dashboard using the command line', 'src/dashboard/a.ts', 'src/cli/b.ts', 'only-cli-imports-cli'],
  ['the embedded cluster using the command line', 'src/embedded/a.ts', 'src/cli/b.ts', 'only-cli-imports-cli'],
  ['the command line using internals of a room', 'src/cli/a.ts', 'src/targets/plan.ts', 'cli-knows-no-internals'],
  ['a command using internals of the controller', 'src/cli/env/a.ts', 'src/controller/b.ts', 'cli-knows-no-internals'],
  ['the product using test code', 'src/kube/a.ts', 'test/b.ts', 'product-needs-no-test-code'],
  ['the product using a test helper', 'src/mesh/plan/a.ts', 'src/mesh/testing/b.ts', 'testing-serves-tests'],
  ['a room using a test helper of another', 'src/mesh/a.ts', 'src/kube/testing/b.ts', 'testing-serves-tests'],
];

test.each(forbiddenImports)('notices %s, also when only a type is imported', async (_what, from, to, rule) => {
  const target = path.relative(path.dirname(from), to);
  const value = tree({ [from]: `import { b } from '${target}';\nexport const a = b;`, [to]: 'export const b = 1;' });
  expect((await checkRooms(value)).violations).toEqual([`${rule}: ${from} → ${to}`]);
  const type = tree({
    [from]: `import type { B } from '${target}';\nexport type A = B;`,
    [to]: 'export type B = 1;',
  });
  expect((await checkRooms(type)).violations).toEqual([`${rule}: ${from} → ${to}`]);
});

test('tests and test helpers may use test helpers', async () => {
  const root = tree({
    'src/kube/testing/a.ts': 'export const a = 1;',
    'src/mesh/testing/b.ts': "import { a } from '../../kube/testing/a.ts';\nexport const b = a;",
    'src/mesh/c.test.ts': "import { b } from './testing/b.ts';\nexport const c = b;",
  });
  expect(await checkRooms(root)).toEqual({ modules: 3, violations: [] });
});

test('the decision record names the modules of kube that the embedded cluster may use', () => {
  const record = readFileSync('docs/decisions/002-embedded-leaves.md', 'utf8');
  const [decision = ''] = /^\*\*Decision\.\*\*.*$/m.exec(record) ?? [];
  const named = [...decision.matchAll(/`([a-z-]+)`/g)].flatMap(([, name = '']) => (name === 'kube' ? [] : [name]));
  expect(named.toSorted()).toEqual(FOR_EMBEDDED.toSorted());
});

test('the command line may use the index.ts of a room, and any module of a library', async () => {
  const root = tree({
    'src/targets/index.ts': 'export const a = 1;',
    'src/kube/errors.ts': 'export const b = 1;',
    'src/cli/c.ts':
      "import { a } from '../targets/index.ts';\nimport { b } from '../kube/errors.ts';\nexport const c = a + b;",
  });
  expect(await checkRooms(root)).toEqual({ modules: 3, violations: [] });
});

test('notices a description that uses the client or Node, but allows types', async () => {
  const root = tree({
    'src/kube/client/client.ts': 'export type Client = 1;\nexport const connect = 1;',
    'src/targets/describe/a.ts': "import { connect } from '../../kube/client/client.ts';\nexport const a = connect;",
    'src/targets/describe/b.ts': "import type { Client } from '../../kube/client/client.ts';\nexport type B = Client;",
    'src/mesh/describe/c.ts': "import { readFileSync } from 'node:fs';\nexport const c = readFileSync;",
    'src/mesh/restarts/describe.ts':
      "import { connect } from '../../kube/client/client.ts';\nexport const d = connect;",
    'src/routing/aws/describe/e.ts': "import { readFileSync } from 'node:fs';\nexport const e = readFileSync;",
  });
  expect((await checkRooms(root)).violations.toSorted()).toEqual([
    'describing-is-pure: src/mesh/restarts/describe.ts → src/kube/client/client.ts',
    'describing-is-pure: src/targets/describe/a.ts → src/kube/client/client.ts',
    'describing-uses-nothing-of-node: src/mesh/describe/c.ts → fs',
    'describing-uses-nothing-of-node: src/routing/aws/describe/e.ts → fs',
  ]);
});

test('notices a dependency of the library watchable', async () => {
  const root = tree({ 'src/watchable/a.ts': "import { parse } from 'yaml';\nexport const a = parse;" });
  const { violations } = await checkRooms(root);
  expect(violations).toHaveLength(1);
  expect(violations[0]).toContain('watchable-depends-on-nothing');
});
