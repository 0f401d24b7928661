// An answer as a page for browsers: the versions that a request went through, in order. The page has no script and
// loads nothing from other sites; all text is escaped.
import { createHash } from 'node:crypto';
import { hopsOf, nameOf, pathOf } from './answer.ts';
import type { CallResult, Hop } from './answer.ts';

const STYLE = `
:root { color-scheme: light dark; --line: #8886; --dim: light-dark(#57606a, #8b949e); --env: light-dark(#8250df, #a371f7); --bad: light-dark(#cf222e, #f85149); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; margin-bottom: .2rem; }
p, small { color: var(--dim); }
ol { list-style: none; margin: 1.5rem 0; padding: 0; }
li { border: 1px solid var(--line); border-left: 4px solid var(--line); border-radius: 8px; padding: .6rem 1rem; margin-bottom: .6rem; overflow-wrap: anywhere; }
li.env { border-left-color: var(--env); }
li.bad { border-left-color: var(--bad); }
small { display: block; }
b span { color: var(--env); font-weight: 500; }
code { font-size: .9em; }
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  vary: 'accept',
} as const;

export function answerPage(call: CallResult): string {
  const items = hopsOf(call).map(hopItem).join('\n');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${escaped(pathOf(call))}</title>
<style>${STYLE}</style>
<h1>The sample shop</h1>
<p>This request went through these pods, one after the other. Those of an environment are marked.</p>
<ol>
${items}
</ol>
<p>The same for programs: <code>curl -H 'x-env: pr-7'</code> with this address.</p>
</html>
`;
}

function hopItem(hop: Hop): string {
  const { service, version, environment, pod, route, status, text } = hop;
  const kind = status !== undefined ? 'bad' : environment === undefined ? 'base' : 'env';
  const title = version === undefined ? `${service} answered ${status}` : nameOf(service, version);
  const of = environment === undefined ? '' : ` <span>environment ${escaped(environment)}</span>`;
  const details = [pod && `pod ${pod}`, text, route && `by ${route}`];
  const lines = details.flatMap((each) => (each ? [`<small>${escaped(each)}</small>`] : []));
  return `<li class="${kind}"><b>${escaped(title)}${of}</b>${lines.join('')}</li>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (letter) => ENTITIES[letter]!);
}
