// The intended differences between the servers: reads known.yaml and compares it with the differences found.
// A known difference must match on both sides, and must be removed from the file when it no longer occurs.
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import type { Difference } from './compare.ts';
import type { Scenario } from './scenario.ts';

/** The value of each server; absent when it has none. `…` in a text matches any text. */
interface Sides {
  readonly real?: unknown;
  readonly embedded?: unknown;
}

/** One reason, and where the difference occurs. */
export interface KnownDifference {
  readonly reason: string;
  /** Paths in any response; `*` matches any text. */
  readonly everywhere?: Readonly<Record<string, Sides>>;
  /** A scenario in which a difference under `everywhere` must occur. */
  readonly showsIn?: string;
  /** By scenario, then by request (its number, method and path), then by path in the response. */
  readonly scenarios?: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Sides>>>>>>;
  /** The real server does not always respond in the same way: the difference may be absent in a run. */
  readonly sometimes?: boolean;
}

/** In the order of the page: first those under `everywhere`, then by topic. */
export const knownDifferences = parse(
  readFileSync(new URL('known.yaml', import.meta.url), 'utf8'),
) as readonly KnownDifference[];

/** A difference of a scenario, as in known.yaml. */
export interface Found extends Difference {
  readonly request: string;
}

/** How known.yaml names a request of a scenario: `3 GET /api/v1/nodes`. */
export function requestName({ steps }: Scenario, index: number): string {
  const { method, path } = steps[index]!;
  return `${index + 1} ${method} ${path}`;
}

/** The differences that are not in known.yaml, and the entries of known.yaml that no longer occur. */
export function compareWithKnown(
  { name }: Pick<Scenario, 'name'>,
  found: readonly Found[],
  known: readonly KnownDifference[] = knownDifferences,
): { readonly unknown: readonly Found[]; readonly stale: readonly Found[] } {
  const written = known.flatMap(({ scenarios, sometimes = false }) =>
    Object.entries(scenarios?.[name] ?? {}).flatMap(([request, paths]) =>
      Object.entries(paths).map(([path, { real, embedded }]) => ({ request, path, real, embedded, sometimes })),
    ),
  );
  const everywhere = known.flatMap(({ everywhere: paths = {}, showsIn }) =>
    Object.entries(paths).map(([path, { real, embedded }]) => ({ request: showsIn ?? '', path, real, embedded })),
  );
  const shows = (entry: Found, difference: Found): boolean =>
    entry.request === difference.request && entry.path === difference.path && sameSides(entry, difference);
  const showsAnywhere = (entry: Found, difference: Found): boolean =>
    matches(entry.path, '*', difference.path) && sameSides(entry, difference);
  return {
    unknown: found.filter(
      (difference) =>
        !written.some((entry) => shows(entry, difference)) &&
        !everywhere.some((entry) => showsAnywhere(entry, difference)),
    ),
    stale: [
      ...written.filter((entry) => !entry.sometimes && !found.some((difference) => shows(entry, difference))),
      ...everywhere.filter(
        (entry) => entry.request === name && !found.some((difference) => showsAnywhere(entry, difference)),
      ),
    ],
  };
}

function sameSides(sides: Sides, { real, embedded }: Difference): boolean {
  return sameValue(sides.real, real) && sameValue(sides.embedded, embedded);
}

function sameValue(written: unknown, value: unknown): boolean {
  if (typeof written === 'string' && typeof value === 'string') return matches(written, '…', value);
  return isDeepStrictEqual(written, value);
}

/** Does a text match a pattern in which `any` stands for any text? */
function matches(pattern: string, any: string, text: string): boolean {
  if (!pattern.includes(any)) return pattern === text;
  const parts = pattern.split(any).map((part) => part.replaceAll(/[.*[\]"\\/$^+?(){}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
}
