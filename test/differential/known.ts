// What the embedded cluster answers differently on purpose, each with its reason. docs/reference/embedded.md lists all of it.
import type { Difference } from './compare.ts';
import type { Scenario, Step } from './scenario.ts';

export interface KnownDifference {
  /** The scenario in which it shows; absent for one that may show anywhere. */
  readonly scenario?: string;
  /** A part of the request as it stands in the corpus; absent for every request of the scenario. */
  readonly request?: string;
  /** The part of the answer, `*` for any text. */
  readonly path: string;
  /** Only where the real server says null and the embedded one says nothing. */
  readonly null?: true;
  readonly reason: string;
}

export const knownDifferences: readonly KnownDifference[] = [
  {
    path: '*',
    null: true,
    reason:
      'Times and lists that nobody has set are left out, where the real server writes null: the same to every client.',
  },
  {
    path: '*columnDefinitions[*].description',
    reason: 'Tables do not repeat the long descriptions of built-in columns: no client shows them.',
  },
  {
    path: '*storageVersionHash',
    reason: 'Discovery has no hash of the storage version: there is one server, and nothing to migrate.',
  },
];

/** Whether a difference is a known one. */
export function isKnown({ name }: Scenario, step: Step, difference: Difference): boolean {
  const request = JSON.stringify(step);
  return knownDifferences.some(
    (known) =>
      (known.scenario === undefined || known.scenario === name) &&
      (known.request === undefined || request.includes(known.request)) &&
      (known.null === undefined || difference.null) &&
      matches(known.path, difference.path),
  );
}

function matches(pattern: string, path: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.[\]"\\/$^+?(){}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(path);
}
