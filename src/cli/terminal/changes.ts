// What would be made, changed and removed, as lines of text. For the commands that plan.
import type { FieldChange, ReportedChange, ReportedStall } from '../../controller/index.ts';
import { stringifyJson } from '../../kube/json.ts';
import type { Paint } from './colour.ts';
import { textDiff } from './text-diff.ts';

/** The longest value that is shown in one line. */
const LONGEST = 100;

/** Changes in their order, each field of an object that changes in a line of its own. */
export function changeLines(changes: readonly ReportedChange[], paint: Paint): string[] {
  const signs = {
    make: paint('good', '+'),
    change: paint('busy', '~'),
    replace: paint('busy', '±'),
    remove: paint('bad', '-'),
  } as const;
  const shown = withoutContents(changes);
  return shown.flatMap((change) => {
    const { kind, name, namespace } = change;
    const along = removesNamespace(change) && shown.length < changes.length ? ', with everything in it' : '';
    const anew = change.do === 'replace' ? ': removed and made anew' : '';
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    return [`${signs[change.do]} ${kind} ${key}${along}${anew}`, ...(change.fields ?? []).flatMap(fieldLines)];
  });
}

/** Changes without what goes because its namespace does. */
function withoutContents(changes: readonly ReportedChange[]): readonly ReportedChange[] {
  const gone = new Set(changes.filter(removesNamespace).map(({ name }) => name));
  return changes.filter(({ namespace = '', by }) => !gone.has(namespace) || by.some((each) => each !== 'cluster'));
}

function removesNamespace({ do: verb, kind }: ReportedChange): boolean {
  return verb === 'remove' && kind === 'Namespace';
}

function fieldLines({ path, before, after }: FieldChange): string[] {
  if (before === undefined) return [`    ${path}: ${valueText(after)}`];
  if (after === undefined) return [`    ${path}: ${valueText(before)} goes`];
  const isText = typeof before === 'string' && typeof after === 'string';
  const differences = isText ? textDiff(before, after) : undefined;
  if (differences === undefined) return [`    ${path}: ${valueText(before)} → ${valueText(after)}`];
  return [`    ${path}:`, ...differences.map((line) => `      ${line}`)];
}

function valueText(value: unknown): string {
  const isPlain = typeof value === 'string' && value !== '' && !value.includes('\n');
  const text = isPlain ? value : stringifyJson(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

/** How many of each. */
export function countLine(changes: readonly ReportedChange[]): string {
  const shown = withoutContents(changes);
  const count = (...verbs: readonly ReportedChange['do'][]): number =>
    shown.filter((change) => verbs.includes(change.do)).length;
  return `${count('make')} to make, ${count('change', 'replace')} to change, ${count('remove')} to remove.`;
}

/** What controllers could not do, and why. */
export function stallLines(stalled: readonly ReportedStall[], paint: Paint): string[] {
  return stalled.map(
    ({ kind, object, controller, reason, message }) =>
      `${paint('bad', '!')} ${kind} ${object}: ${controller} can't go on: ${reason}: ${message}`,
  );
}
