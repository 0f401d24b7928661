// Translates a match entry of a route into the conditions of a rule.
import type { HeaderMatch, HttpMatch } from '../istio/objects.ts';
import { regexProblem } from '../regex/regex.ts';
import type { HeaderCondition, PathCondition, RuleMatch } from '../rules.ts';

/** The conditions of a match entry. Istio ignores those on the caller where the entry names gateways. */
export function conditionsOf(entry: HttpMatch): RuleMatch {
  const { uri, ignoreUriCase = false, queryParams = {}, sourceLabels = {}, sourceNamespace, gateways = [] } = entry;
  const hasSource = gateways.length === 0 && (Object.keys(sourceLabels).length > 0 || Boolean(sourceNamespace));
  const path = pathOf(uri, ignoreUriCase);
  return {
    ...(hasSource && {
      source: {
        ...(Object.keys(sourceLabels).length > 0 && { labels: sourceLabels }),
        ...(sourceNamespace && { namespace: sourceNamespace }),
      },
    }),
    ...(path && { path }),
    headers: [
      ...headersOf(entry.headers, false),
      ...headersOf(entry.withoutHeaders, true),
      ...(['method', 'authority', 'scheme'] as const).flatMap((field) => {
        const value = entry[field];
        return value ? [{ name: `:${field}`, value: formOf(value), negated: false }] : [];
      }),
    ],
    query: Object.entries(queryParams).map(([name, value]) => ({ name, value: formOf(value) })),
  };
}

/** Every path starts with `/`, so the prefix `/` is no condition. */
function pathOf(uri: HeaderMatch = {}, ignoreCase: boolean): PathCondition | undefined {
  const value = formOf(uri, { isPath: true });
  if (Object.keys(value).length === 0 || value.prefix === '/') return undefined;
  return { value, ignoreCase: ignoreCase && value.regex === undefined };
}

function headersOf(headers: HttpMatch['headers'] = {}, negated: boolean): readonly HeaderCondition[] {
  return Object.entries(headers).map(([name, value]) => ({ name: name.toLowerCase(), value: formOf(value), negated }));
}

/** The one form of a condition; empty if the value only has to be present. */
function formOf({ exact, prefix, regex }: HeaderMatch, { isPath = false } = {}): HeaderMatch {
  if (exact !== undefined) return { exact };
  if (prefix !== undefined) return { prefix };
  return regex === undefined || (regex === '*' && !isPath) ? {} : { regex };
}

/** Whether a rule matches every request of its proxy. At gateways istiod puts such routes last. */
export function isCatchAll({ path, headers, query }: RuleMatch): boolean {
  return (path === undefined || path.value.regex === '.*') && headers.length === 0 && query.length === 0;
}

/** Why Envoy refuses the conditions; undefined if it accepts them. */
export function refusalOf({ path, headers, query }: RuleMatch): string | undefined {
  const texts = [...headers, ...query].map(({ name, value }) => ({ what: name, value }));
  const asked = path === undefined ? texts : [{ what: 'uri', value: path.value }, ...texts];
  for (const { what, value } of asked) {
    if (value.prefix === '' && what !== 'uri') return `${what}: an empty prefix`;
    if (value.regex === undefined) continue;
    const problem = value.regex === '' ? 'an empty expression' : regexProblem(value.regex);
    if (problem !== undefined) return `${what}: regex ${JSON.stringify(value.regex)}: ${problem}`;
  }
  return undefined;
}
