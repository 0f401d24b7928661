// Compares the changes of a plan with what happened on a cluster, whose server adds defaults.
import { UNKNOWN } from '../../src/controller/index.ts';
import type { FieldChange, ReportedChange } from '../../src/controller/index.ts';

/** Whether a change is the planned one; servers add fields. */
function matches(planned: unknown, happened: unknown): boolean {
  if (typeof planned === 'string' && typeof happened === 'string') {
    const parts = planned.split(UNKNOWN).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
    return new RegExp(`^${parts.join('.+')}$`, 's').test(happened) || isTime(planned, happened);
  }
  if (Array.isArray(planned)) {
    if (!Array.isArray(happened) || happened.length !== planned.length) return false;
    return planned.every((each, i) => matches(each, happened[i]));
  }
  if (typeof planned !== 'object' || planned === null) return planned === happened;
  return Object.entries(planned).every(
    ([name, value]) => isIgnored(name) || matches(value, (happened as Record<string, unknown> | undefined)?.[name]),
  );
}

/** Timestamps differ, since a plan has the time at which it was made. */
const isTime = (...texts: readonly string[]): boolean => texts.every((text) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text));

/** Sorts fields, as servers do, and leaves out timestamps: two within a second may or may not be equal. */
function comparable({ fields, ...change }: ReportedChange): ReportedChange {
  const isPlain = ({ after }: FieldChange): boolean => !(typeof after === 'string' && isTime(after));
  const sorted = fields?.filter(isPlain).sort((one, other) => (one.path < other.path ? -1 : 1));
  return { ...change, ...(sorted && { fields: sorted }) };
}

/** The server normalizes quantities; the field manager is not part of the stored object. */
const isIgnored = (name: string): boolean => name === 'hard' || name === 'by';

/** Whether a change that happened is this planned one. */
export const isPlanned = (planned: ReportedChange, happened: ReportedChange): boolean =>
  matches(comparable(planned), comparable(happened));

/** Changes that happened but were not planned, and the reverse. */
export function surprises(planned: readonly ReportedChange[], happened: readonly ReportedChange[]) {
  const [one, other] = [planned.map(comparable), happened.map(comparable)];
  return {
    unplanned: other.filter((change) => !one.some((each) => matches(each, change))),
    missing: one.filter((change) => !other.some((each) => matches(change, each))),
  };
}
