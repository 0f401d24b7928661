// The part of docs/reference/embedded.md that lists the known differences, made from known.ts.
// `node test/differential/page.ts` writes it into the page; known.test.ts holds the page to it.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { knownDifferences } from './known.ts';

export const pagePath = fileURLToPath(new URL('../../docs/reference/embedded.md', import.meta.url));

const heading = '## Known differences\n';

/** The page with its last section made anew. */
export function withDifferences(page: string): string {
  const at = page.indexOf(heading);
  if (at < 0) throw new Error(`${pagePath} has no heading ${JSON.stringify(heading.trim())}`);
  return `${page.slice(0, at)}${heading}\n${introduction}\n\n${differenceList()}`;
}

const introduction =
  'Found by sending the requests of `test/differential/corpus` to both servers. Anything that differs and is not listed here fails the test. ' +
  'The name in brackets is the scenario that shows it.';

/** One line a reason, with the scenarios that show it. */
function differenceList(): string {
  const scenarios = new Map<string, Set<string>>();
  for (const { reason, scenario } of knownDifferences) {
    const names = scenarios.get(reason) ?? new Set();
    scenarios.set(reason, names.add(scenario ?? 'everywhere'));
  }
  return [...scenarios].map(([reason, names]) => `- ${reason} (${[...names].join('; ')})\n`).join('');
}

if (import.meta.main) writeFileSync(pagePath, withDifferences(readFileSync(pagePath, 'utf8')));
