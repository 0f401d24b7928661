// Random worlds for plans of claims on real API servers: claims that exist, targets that users delete while the
// controllers do not run, and what users then create and delete.
import * as fc from 'fast-check';

/** A claim, with or without an Environment that deploys to it. */
export interface ClaimDraft {
  readonly name: string;
  /** A class of the test; `none` does not exist, and '' stands for the target that was created by hand. */
  readonly className: string;
  readonly hasEnvironment: boolean;
}

export interface RandomClaimWorld {
  /** Claims that exist, and for which the controllers have settled. */
  readonly given: readonly ClaimDraft[];
  /** Claims whose target is deleted while the controllers do not run. */
  readonly losing: readonly string[];
  readonly made: readonly ClaimDraft[];
  readonly deleted: readonly string[];
}

const className = fc.constantFrom('local', 'local', 'warm', 'kept', 'sandbox', '', 'none');

const draft = fc.record({
  name: fc.constantFrom('blue', 'green', 'red', 'white'),
  className,
  hasEnvironment: fc.boolean(),
});

/** One claim of a class: of two that are created together, which one gets a spare target depends on the moment. */
const drafts = fc.uniqueArray(draft, { maxLength: 4, selector: (each) => each.className }).map((all) => {
  const byName = new Map(all.map((each) => [each.name, each]));
  return [...byName.values()];
});

export const randomClaimWorld: fc.Arbitrary<RandomClaimWorld> = fc
  .tuple(drafts, fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), fc.nat(2), fc.integer({ min: 0, max: 2 }))
  .map(([all, deletions, existing, lost]) => {
    const given = all.slice(0, existing);
    const made = all.slice(existing);
    const deleted = given.filter((_each, i) => deletions[i]).map(({ name }) => name);
    const losing = given.filter((each, i) => i < lost && isProvisioned(each)).map(({ name }) => name);
    return { given, losing, made, deleted };
  })
  .filter(({ losing, made, deleted }) => losing.length + made.length + deleted.length > 0);

const isProvisioned = (each: ClaimDraft): boolean => each.className !== '' && each.className !== 'none';

/** A world in words, for the message of a failed test. */
export function describeWorld({ given, losing, made, deleted }: RandomClaimWorld): string {
  return [
    ...given.map((each) => `given ${textOf(each)}`),
    ...losing.map((name) => `the target of ${name} is deleted`),
    ...made.map((each) => `create ${textOf(each)}`),
    ...deleted.map((name) => `delete ${name}`),
  ].join('\n');
}

function textOf({ name, className: of, hasEnvironment }: ClaimDraft): string {
  return `${name} of class '${of}'${hasEnvironment ? ' with an Environment' : ''}`;
}
