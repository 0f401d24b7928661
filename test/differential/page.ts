// The part of docs/reference/embedded.md that lists the known differences, made from known.yaml.
// `node test/differential/page.ts` writes it into the page; known.test.ts holds the page to it.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { knownDifferences } from './known.ts';
import type { KnownDifference } from './known.ts';

export const pagePath = fileURLToPath(new URL('../../docs/reference/embedded.md', import.meta.url));

const heading = '## Known differences\n';

/** The page with its last section recreated. */
export function withDifferences(page: string): string {
  const at = page.indexOf(heading);
  if (at < 0) throw new Error(`${pagePath} has no heading ${JSON.stringify(heading.trim())}`);
  return `${page.slice(0, at)}${heading}\n${introduction}\n\n${differenceList()}`;
}

const introduction =
  'Found by sending the requests of `test/differential/corpus` to both servers. Both sides of every difference are written down in `test/differential/known.yaml`; anything else that differs fails the test, and so does one that no longer shows. ' +
  'The name in brackets is the scenario that shows it.';

/** One line a reason, with the scenarios that show it. */
function differenceList(): string {
  const line = ({ reason, everywhere, scenarios = {} }: KnownDifference): string =>
    `- ${reason} (${[...(everywhere === undefined ? [] : ['everywhere']), ...Object.keys(scenarios)].join('; ')})\n`;
  return knownDifferences.map(line).join('');
}

if (import.meta.main) writeFileSync(pagePath, withDifferences(readFileSync(pagePath, 'utf8')));
