// Generates the list of known differences in docs/reference/embedded.md from known.yaml.
// `node test/differential/page.ts` writes it; known.test.ts checks that it is up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { knownDifferences } from './known.ts';
import type { KnownDifference } from './known.ts';

export const pagePath = fileURLToPath(new URL('../../docs/reference/embedded.md', import.meta.url));

const heading = '## Known differences\n';

/** Replaces the last section of the page. */
export function withDifferences(page: string): string {
  const at = page.indexOf(heading);
  if (at < 0) throw new Error(`${pagePath} has no heading ${JSON.stringify(heading.trim())}`);
  return `${page.slice(0, at)}${heading}\n${introduction}\n\n${differenceList()}`;
}

const introduction =
  'Found by sending the requests of `test/differential/corpus` to both servers. `test/differential/known.yaml` contains both sides of every difference; any other difference fails the test, and so does an entry that no longer occurs. ' +
  'The names in brackets are the scenarios in which it occurs.';

/** One line per reason, with the scenarios in which it occurs. */
function differenceList(): string {
  const line = ({ reason, everywhere, scenarios = {} }: KnownDifference): string =>
    `- ${reason} (${[...(everywhere === undefined ? [] : ['everywhere']), ...Object.keys(scenarios)].join('; ')})\n`;
  return knownDifferences.map(line).join('');
}

if (import.meta.main) writeFileSync(pagePath, withDifferences(readFileSync(pagePath, 'utf8')));
