// Checks the page that follows an environment and a claim through the code: it names every file that they pass.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const PAGE = 'docs/contributing/life-of-an-environment.md';
const page = readFileSync(PAGE, 'utf8');

/** The files of `src` that a text links to, in order, each once. */
function filesIn(text: string): readonly string[] {
  const links = [...text.matchAll(/\]\((\.\.\/\.\.\/src\/[^)#]+)\)/g)];
  return [...new Set(links.map(([, file]) => path.join(path.dirname(PAGE), file!)))];
}

/** The part of the page from one heading to another. */
function between(from: string, to: string): string {
  const [start, end] = [from, to].map((heading) => page.indexOf(`\n${heading}\n`));
  expect(start, from).toBeGreaterThan(0);
  expect(end, to).toBeGreaterThan(start!);
  return page.slice(start, end);
}

/** The modules of a room that these modules import at run time, directly or through others of the room. */
function closure(room: string, starts: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const visit = (file: string): void => {
    if (found.has(file) || !file.startsWith(`src/${room}/`)) return;
    found.add(file);
    const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type )[^;]*? from '(\.[^']+)';$/gm);
    for (const [, target] of imports) visit(path.join(path.dirname(file), target!));
  };
  for (const start of starts) visit(`src/${room}/${start}`);
  return [...found];
}

test('every file on the page exists', () => {
  const files = filesIn(page);
  expect(files.length).toBeGreaterThan(50);
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});

test.each([
  ['environments', ['admission/webhook.ts', 'plan.ts', 'routes/wishes.ts', 'routes/plan.ts', 'routes/write.ts']],
  [
    'targets',
    ['binding/binder.ts', 'reclaim/reclaimer.ts', ...['request', 'target', 'secrets'].map((f) => `namespaces/${f}.ts`)],
  ],
])('the page names every file of %s that the plans import', (room, starts) => {
  const passed = closure(room, starts);
  expect(passed.length).toBeGreaterThan(20);
  const named = filesIn(page);
  expect(passed.filter((file) => !named.includes(file)).toSorted(), `add them to ${PAGE}`).toEqual([]);
});

test('no file is both on the way and beside it', () => {
  const onTheWay = filesIn(between('## An environment', '## Beside the way'));
  const beside = filesIn(between('## Beside the way', '## Where to put a breakpoint'));
  expect(beside.filter((file) => onTheWay.includes(file))).toEqual([]);
});

test('the page says how long the way is', () => {
  const environment = filesIn(between('## An environment', '### 6. People look at it'));
  const claim = filesIn(between('## A claim', '## Beside the way')).filter((file) => !environment.includes(file));
  expect(page).toContain(`the way has ${environment.length} files. A claim passes ${claim.length} others.`);
});
