// What the embedded cluster answers differently on purpose, each with its reason. docs/reference/embedded.md lists all of it.
import type { Difference } from './compare.ts';

export interface KnownDifference {
  /** The scenario in which it shows; absent for one that may show anywhere. */
  readonly scenario?: string;
  /** The part of the answer, `*` for any text. */
  readonly path: string;
  readonly reason: string;
}

export const knownDifferences: readonly KnownDifference[] = [];

/** Whether a difference is a known one. */
export function isKnown(scenario: string, { path }: Difference): boolean {
  return knownDifferences.some(
    (known) => (known.scenario === undefined || known.scenario === scenario) && matches(known.path, path),
  );
}

function matches(pattern: string, path: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.[\]"\\/$^+?(){}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(path);
}
