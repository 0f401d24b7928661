// Compares what was foretold with what happened on a cluster, whose server fills in more.
import { UNKNOWN } from '../../src/controller/index.ts';
import type { FieldChange, ReportedChange } from '../../src/controller/index.ts';

/** Whether what happened is what was foretold; servers fill in more. */
function fits(foretold: unknown, happened: unknown): boolean {
  if (typeof foretold === 'string' && typeof happened === 'string') {
    const parts = foretold.split(UNKNOWN).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
    return new RegExp(`^${parts.join('.+')}$`, 's').test(happened) || isTime(foretold, happened);
  }
  if (Array.isArray(foretold)) {
    if (!Array.isArray(happened) || happened.length !== foretold.length) return false;
    return foretold.every((each, i) => fits(each, happened[i]));
  }
  if (typeof foretold !== 'object' || foretold === null) return foretold === happened;
  return Object.entries(foretold).every(
    ([name, value]) => isServers(name) || fits(value, (happened as Record<string, unknown> | undefined)?.[name]),
  );
}

/** Times are those at which it happens. */
const isTime = (...texts: readonly string[]): boolean => texts.every((text) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text));

/** Of two times within a second it depends on the second whether they differ. */
function withoutTimes({ fields, ...change }: ReportedChange): ReportedChange {
  const isPlain = ({ after }: FieldChange): boolean => !(typeof after === 'string' && isTime(after));
  return { ...change, ...(fields && { fields: fields.filter(isPlain) }) };
}

/** Quantities have a form of the server's own; who writes is not in what is stored. */
const isServers = (name: string): boolean => name === 'hard' || name === 'by';

/** What happened on a cluster and was not foretold, and the other way round. */
export function surprises(foretold: readonly ReportedChange[], happened: readonly ReportedChange[]) {
  const [one, other] = [foretold.map(withoutTimes), happened.map(withoutTimes)];
  return {
    unforeseen: other.filter((change) => !one.some((each) => fits(each, change))),
    missing: one.filter((change) => !other.some((each) => fits(change, each))),
  };
}
