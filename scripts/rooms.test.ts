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

test('notices a dependency of the stand-alone library', async () => {
  const root = tree({ 'src/watchable/a.ts': "import { parse } from 'yaml';\nexport const a = parse;" });
  const { violations } = await checkRooms(root);
  expect(violations).toHaveLength(1);
  expect(violations[0]).toContain('watchable-depends-on-nothing');
});
