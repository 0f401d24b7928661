// Formats an answer as JSON that people can read too: the path in one line, then one line per hop.
import { hopsOf, pathOf } from './answer.ts';
import type { CallResult } from './answer.ts';

export const JSON_HEADERS = {
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
  vary: 'accept',
} as const;

export function answerJson(call: CallResult): string {
  const hops = hopsOf(call).map((hop) => `    ${JSON.stringify(hop)}`);
  return `{\n  "path": ${JSON.stringify(pathOf(call))},\n  "hops": [\n${hops.join(',\n')}\n  ]\n}\n`;
}
