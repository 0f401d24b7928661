// Conditions on a request: those of a route and those of an environment, combined so that both must hold.
import type { IstioMatch, StringMatch } from '../api/dynamicenv.ts';
import type { HeaderMatch, HttpMatch } from './objects.ts';

/** A condition that a base route already puts on something that the environment looks at too. */
export interface Contradiction {
  /** What both look at: `header end-user`, `source label app`. */
  readonly on: string;
  readonly base: string;
  readonly env: string;
}

export type Combined =
  | { readonly match: HttpMatch }
  /** No request can fulfil both, or no single condition can ask for both. */
  | { readonly contradiction: Contradiction };

/** A match entry of a route with an environment's conditions added: only requests that fulfil both fit the result. */
export function combine(base: HttpMatch, wanted: IstioMatch): Combined {
  const headers: Record<string, HeaderMatch> = { ...base.headers };
  for (const [name, match] of Object.entries(wanted.headers ?? {})) {
    const ours = oneForm(match);
    const found = headerOf(headers, name);
    const both = found === undefined ? ours : intersect(found.match, ours);
    if (both === undefined) {
      return { contradiction: { on: `header ${name}`, base: show(found!.match), env: show(ours) } };
    }
    if (found !== undefined && found.name !== name) delete headers[found.name];
    headers[name] = both;
  }
  const sourceLabels: Record<string, string> = { ...base.sourceLabels };
  for (const [name, value] of Object.entries(wanted.sourceLabels ?? {})) {
    const before = sourceLabels[name];
    if (before !== undefined && before !== value) {
      return { contradiction: { on: `source label ${name}`, base: before, env: value } };
    }
    sourceLabels[name] = value;
  }
  return {
    match: {
      ...base,
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(Object.keys(sourceLabels).length > 0 && { sourceLabels }),
    },
  };
}

/** The form of a match that counts: exact before prefix before regex. */
function oneForm({ exact, prefix, regex }: StringMatch): HeaderMatch {
  if (exact) return { exact };
  if (prefix) return { prefix };
  return { regex: regex ?? '' };
}

/** Header names are the same whatever their case. */
function headerOf(
  headers: Readonly<Record<string, HeaderMatch>>,
  name: string,
): { name: string; match: HeaderMatch } | undefined {
  const found = Object.entries(headers).find(([other]) => other.toLowerCase() === name.toLowerCase());
  return found && { name: found[0], match: found[1] };
}

/**
 * One condition that holds exactly when both do. Undefined when no value fulfils both, and for a regular expression
 * beside another or a prefix, for which there is no single condition.
 */
function intersect(a: HeaderMatch, b: HeaderMatch): HeaderMatch | undefined {
  if (isPresence(a)) return b;
  if (isPresence(b)) return a;
  if (a.exact !== undefined) return fits(a.exact, b) ? a : undefined;
  if (b.exact !== undefined) return fits(b.exact, a) ? b : undefined;
  if (a.prefix !== undefined && b.prefix !== undefined) {
    if (a.prefix.startsWith(b.prefix)) return a;
    return b.prefix.startsWith(a.prefix) ? b : undefined;
  }
  if (a.regex !== undefined && a.regex === b.regex) return a;
  return undefined;
}

/** A match without any form asks only that the header is there. */
function isPresence({ exact, prefix, regex }: HeaderMatch): boolean {
  return exact === undefined && prefix === undefined && regex === undefined;
}

function fits(value: string, { exact, prefix, regex }: HeaderMatch): boolean {
  if (exact !== undefined) return exact === value;
  if (prefix !== undefined) return value.startsWith(prefix);
  try {
    return new RegExp(`^(?:${regex})$`).test(value);
  } catch {
    return false;
  }
}

function show({ exact, prefix, regex }: HeaderMatch): string {
  if (exact !== undefined) return `exact "${exact}"`;
  if (prefix !== undefined) return `prefix "${prefix}"`;
  return regex === undefined ? 'present' : `regex "${regex}"`;
}
