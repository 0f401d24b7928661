// What the embedded cluster answers differently on purpose: known.yaml, read and held against what was found.
// A difference is known only with both of its sides, and one that no longer shows must be taken out of the file.
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import type { Difference } from './compare.ts';
import type { Scenario } from './scenario.ts';

/** What each server says; absent for nothing. `…` in a text stands for any text. */
interface Sides {
  readonly real?: unknown;
  readonly embedded?: unknown;
}

/** One reason, and where it shows. */
export interface KnownDifference {
  readonly reason: string;
  /** Paths in any answer, `*` for any text. */
  readonly everywhere?: Readonly<Record<string, Sides>>;
  /** For what may show anywhere: a scenario in which it must. */
  readonly showsIn?: string;
  /** By scenario, then by request (its number, method and path), then by path in its answer. */
  readonly scenarios?: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Sides>>>>>>;
  /** The real server does not always answer the same: a run may show the difference or not. */
  readonly sometimes?: boolean;
}

/** In the order of the page: what holds everywhere, then topic by topic. */
export const knownDifferences = parse(
  readFileSync(new URL('known.yaml', import.meta.url), 'utf8'),
) as readonly KnownDifference[];

/** A difference of one scenario, as the file writes it down. */
export interface Found extends Difference {
  readonly request: string;
}

/** How known.yaml names a request of a scenario: `3 GET /api/v1/nodes`. */
export function requestName({ steps }: Scenario, index: number): string {
  const { method, path } = steps[index]!;
  return `${index + 1} ${method} ${path}`;
}

/** The differences that nobody has written down, and those that were written down and do not show any more. */
export function judge(
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

/** Does a text fit a pattern in which one sign stands for any text? */
function matches(pattern: string, any: string, text: string): boolean {
  if (!pattern.includes(any)) return pattern === text;
  const parts = pattern.split(any).map((part) => part.replaceAll(/[.*[\]"\\/$^+?(){}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
}
