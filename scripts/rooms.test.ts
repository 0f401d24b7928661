import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { checkRooms } from './rooms.ts';

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

/** A tree of files in a folder of its own. */
function tree(files: Record<string, string>): string {
  const root = mkdtempSync(path.join(tmpdir(), 'rooms-'));
  roots.push(root);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return root;
}

test('this tree keeps the rules, and it was read', async () => {
  const report = await checkRooms(path.resolve(import.meta.dirname, '..'));
  expect(report.violations).toEqual([]);
  expect(report.modules).toBeGreaterThan(20);
});

test('an import to the left is fine', async () => {
  const root = tree({
    'src/kube/a.ts': 'export const a = 1;',
    'src/environments/b.ts': "import { a } from '../kube/a.ts';\nexport const b = a;",
  });
  expect(await checkRooms(root)).toEqual({ modules: 2, violations: [] });
});

const planted: [string, string, string, string][] = [
  ['kube reaching into a controller', 'src/kube/a.ts', 'src/controller/b.ts', 'kube-imports-leftwards'],
  ['a product room reaching into another', 'src/mesh/a.ts', 'src/targets/b.ts', 'mesh-imports-leftwards'],
  ['the embedded cluster knowing the product', 'src/embedded/a.ts', 'src/environments/b.ts', 'embedded-stands-alone'],
  ['the embedded cluster using the client', 'src/embedded/a.ts', 'src/kube/client/connect.ts', 'embedded-stands-alone'],
  ['a room using what prints', 'src/targets/a.ts', 'src/cli/terminal/b.ts', 'only-cli-imports-cli'],
  ['the dashboard using the command line', 'src/dashboard/a.ts', 'src/cli/b.ts', 'only-cli-imports-cli'],
  ['the embedded cluster using the command line', 'src/embedded/a.ts', 'src/cli/b.ts', 'only-cli-imports-cli'],
  ['the command line using how a room plans', 'src/cli/a.ts', 'src/targets/plan.ts', 'cli-knows-no-internals'],
  ['the command line using how a loop works', 'src/cli/env/a.ts', 'src/controller/b.ts', 'cli-knows-no-internals'],
  ['the product using test code', 'src/kube/a.ts', 'test/b.ts', 'product-needs-no-test-code'],
];

test.each(planted)('notices %s, also when only a type is imported', async (_what, from, to, rule) => {
  const target = path.relative(path.dirname(from), to);
  const value = tree({ [from]: `import { b } from '${target}';\nexport const a = b;`, [to]: 'export const b = 1;' });
  expect((await checkRooms(value)).violations).toEqual([`${rule}: ${from} → ${to}`]);
  const type = tree({
    [from]: `import type { B } from '${target}';\nexport type A = B;`,
    [to]: 'export type B = 1;',
  });
  expect((await checkRooms(type)).violations).toEqual([`${rule}: ${from} → ${to}`]);
});

test('the command line may use the door of a room, and any module of a library', async () => {
  const root = tree({
    'src/targets/index.ts': 'export const a = 1;',
    'src/kube/errors.ts': 'export const b = 1;',
    'src/cli/c.ts':
      "import { a } from '../targets/index.ts';\nimport { b } from '../kube/errors.ts';\nexport const c = a + b;",
  });
  expect(await checkRooms(root)).toEqual({ modules: 3, violations: [] });
});

test('notices a description that reads or asks by itself, and lets it name the types', async () => {
  const root = tree({
    'src/kube/client/client.ts': 'export type Client = 1;\nexport const connect = 1;',
    'src/targets/describe/a.ts': "import { connect } from '../../kube/client/client.ts';\nexport const a = connect;",
    'src/targets/describe/b.ts': "import type { Client } from '../../kube/client/client.ts';\nexport type B = Client;",
    'src/mesh/describe/c.ts': "import { readFileSync } from 'node:fs';\nexport const c = readFileSync;",
  });
  expect((await checkRooms(root)).violations.toSorted()).toEqual([
    'describing-is-pure: src/targets/describe/a.ts → src/kube/client/client.ts',
    'describing-uses-nothing-of-node: src/mesh/describe/c.ts → fs',
  ]);
});

test('notices a dependency of the stand-alone library', async () => {
  const root = tree({ 'src/watchable/a.ts': "import { parse } from 'yaml';\nexport const a = parse;" });
  const { violations } = await checkRooms(root);
  expect(violations).toHaveLength(1);
  expect(violations[0]).toContain('watchable-depends-on-nothing');
});
