// A spec with its missing and mistyped fields filled in, so that what is wrong with the others is told in the same run.
// Called by check.ts.
import type { z } from 'zod';
import type { FieldPath } from './kubectl-yaml.ts';

type Fields = Record<string | number, unknown>;

const STAND_INS: Readonly<Record<string, unknown>> = { array: [], object: {}, number: 1, int: 1, boolean: true };

/** The spec with stand-ins where something of another type should be; undefined where that is not all. */
export function repaired(spec: unknown, issues: readonly z.core.$ZodIssue[], schema: z.ZodType): unknown {
  const copy: { spec: unknown } = { spec: structuredClone(spec) };
  for (const issue of issues) {
    if (issue.code !== 'invalid_type') return undefined;
    const place = ['spec', ...issue.path] as (string | number)[];
    const parent = place.slice(0, -1).reduce<unknown>((found, part) => (found as Fields | undefined)?.[part], copy);
    if (typeof parent !== 'object' || parent === null) return undefined;
    const [last, fields] = [place.at(-1)!, parent as Fields];
    fields[last] = issue.expected === 'string' ? standIn(fields[last]) : STAND_INS[issue.expected];
  }
  return schema.safeParse(copy.spec).success ? copy.spec : undefined;
}

/** A number or a truth value is what a string without its quotes is read as. */
function standIn(found: unknown): string {
  return typeof found === 'number' || typeof found === 'boolean' ? String(found) : 'unknown';
}

/** Whether what is said of one place may come from what was filled in at another. */
export function concerns(at: FieldPath, filled: FieldPath): boolean {
  return filled.every((part, i) => i >= at.length || at[i] === part);
}
