// Fills in missing and mistyped fields of a spec, so that problems of the other fields are found in the same run.
// Called by check.ts.
import type { z } from 'zod';
import type { FieldPath } from './kubectl-yaml.ts';

type JsonNode = Record<string | number, unknown>;

const PLACEHOLDERS: Readonly<Record<string, unknown>> = { array: [], object: {}, number: 1, int: 1, boolean: true };

/** The spec with placeholders for mistyped fields; undefined if it has other problems. */
export function repaired(spec: unknown, issues: readonly z.core.$ZodIssue[], schema: z.ZodType): unknown {
  const copy: { spec: unknown } = { spec: structuredClone(spec) };
  for (const issue of issues) {
    if (issue.code !== 'invalid_type') return undefined;
    const path = ['spec', ...issue.path] as (string | number)[];
    const parent = path.slice(0, -1).reduce<unknown>((found, part) => (found as JsonNode | undefined)?.[part], copy);
    if (typeof parent !== 'object' || parent === null) return undefined;
    const [last, fields] = [path.at(-1)!, parent as JsonNode];
    fields[last] = issue.expected === 'string' ? placeholderFor(fields[last]) : PLACEHOLDERS[issue.expected];
  }
  return schema.safeParse(copy.spec).success ? copy.spec : undefined;
}

/** A number or boolean is probably an unquoted string. */
function placeholderFor(found: unknown): string {
  return typeof found === 'number' || typeof found === 'boolean' ? String(found) : 'unknown';
}

/** Whether a problem at one path may be caused by a placeholder at another. */
export function concerns(at: FieldPath, filled: FieldPath): boolean {
  return filled.every((part, i) => i >= at.length || at[i] === part);
}
