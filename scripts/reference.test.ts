// Checks the documentation: generated pages are up to date, and all links work.
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { referencePages } from './reference.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const pages = [...(await referencePages())].map(([file, text]) => [path.relative(ROOT, file), text] as const);
const documents = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT })];

test.each(pages)('%s is up to date', (file, text) => {
  const found = existsSync(path.join(ROOT, file)) ? readFileSync(path.join(ROOT, file), 'utf8') : '';
  expect(found === text, `${file} is not current: write it anew with "node scripts/reference.ts"`).toBe(true);
});

test('a page lists nested fields, required fields, enums and defaults, and describes each object once', () => {
  const page = new Map(pages.map(([file, text]) => [path.basename(file, '.md'), text]));
  expect(page.get('dynamicenv')).toContain('| `spec.subsets[].containers[].containerName` | string | yes |');
  expect(page.get('dynamicenv')).toContain('| `spec.istioMatches[].headers{}.exact` | string |  |');
  expect(page.get('dynamicenv')).toContain('Its fields are those of `spec.subsets[]`.');
  expect(page.get('dynamicenv')).not.toContain('spec.consumers[].');
  expect(page.get('deploymenttargetclass')).toContain('One of `Delete`, `Retain`.');
  expect(page.get('deploymenttarget')).toContain('Default: `false`.');
});

test('the index links to every page of the documentation', () => {
  const index = linksOf('docs/README.md');
  const pagesOfOurs = documents.filter((file) => file.startsWith('docs/') && file !== 'docs/README.md');
  const missing = pagesOfOurs.filter((file) => !index.includes(file));
  expect(missing, 'link these pages in docs/README.md').toEqual([]);
});

test.each(documents)('all links of %s point to existing files', (document) => {
  expect(linksOf(document).filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
});

test('each page links to the next one of its section in the index', () => {
  const sections = readFileSync(path.join(ROOT, 'docs/README.md'), 'utf8').split(/^## /m);
  const pairs = sections.flatMap((section) => {
    const order = [...section.matchAll(/^\d+\. \[[^\]]+\]\(([^)]+)\)/gm)].map(([, file]) => path.join('docs', file!));
    return order.slice(1).map((next, index) => [order[index]!, next] as const);
  });
  expect(pairs.length).toBeGreaterThan(20);
  const lost = pairs.filter(([page, next]) => page.startsWith('docs/') && !lastLinksOf(page).includes(next));
  expect(lost, 'end the page with "Next: [title](page)."').toEqual([]);
});

test.each(documents)('all anchors that %s links to are headings', (document) => {
  const anchors = anchorsOf(document).filter(([file]) => file.endsWith('.md') && existsSync(path.join(ROOT, file)));
  expect(anchors.filter(([file, anchor]) => !headingsOf(file).includes(anchor))).toEqual([]);
});

/** The links in the last line of a page, to the next page. */
function lastLinksOf(page: string): string[] {
  const last = readFileSync(path.join(ROOT, page), 'utf8').trimEnd().split('\n').at(-1)!;
  if (!last.startsWith('Next: ')) return [];
  return [...last.matchAll(/\]\(([^)#]+)/g)].map(([, file]) => path.join(path.dirname(page), file!));
}

/** The anchors that a document links to. */
function anchorsOf(document: string): [file: string, anchor: string][] {
  const text = readFileSync(path.join(ROOT, document), 'utf8');
  return [...text.matchAll(/\]\(([^)#\s]*)#([^)]+)\)/g)]
    .filter(([, file]) => !/^[a-z]+:/.test(file!))
    .map(([, file, anchor]) => [file === '' ? document : path.join(path.dirname(document), file!), anchor!]);
}

/** The anchors of the headings of a page, in the format of GitHub. */
function headingsOf(page: string): string[] {
  const text = readFileSync(path.join(ROOT, page), 'utf8').replaceAll(/^```[^]*?^```/gm, '');
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The files that a document links to, relative to the repository. */
function linksOf(document: string): string[] {
  const text = existsSync(path.join(ROOT, document)) ? readFileSync(path.join(ROOT, document), 'utf8') : '';
  const targets = [...text.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, target]) => target!);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => path.join(path.dirname(document), target));
}
