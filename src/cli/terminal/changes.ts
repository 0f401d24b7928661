// Formats planned changes as lines of text. For the plan commands.
import type { FieldChange, ReportedChange, ReportedStall } from '../../controller/index.ts';
import { stringifyJson } from '../../kube/json.ts';
import type { Paint } from './colour.ts';
import { textDiff } from './text-diff.ts';

/** The maximum length of a value in a line. */
const MAX_LENGTH = 100;

/** Changes in order, one line per changed field; status-only changes follow in one line each. */
export function changeLines(changes: readonly ReportedChange[], paint: Paint): string[] {
  const signs = {
    make: paint('good', '+'),
    change: paint('busy', '~'),
    replace: paint('busy', '±'),
    remove: paint('bad', '-'),
  } as const;
  const shown = withoutContents(changes);
  const ofStatus = shown.filter(isStatusOnly);
  const lines = shown.flatMap((change) => {
    if (isStatusOnly(change)) return [];
    const { kind } = change;
    const along = removesNamespace(change) && shown.length < changes.length ? ', with everything in it' : '';
    const anew = change.do === 'replace' ? ': replaced' : '';
    return [
      `${signs[change.do]} ${kind} ${keyText(change)}${along}${anew}`,
      ...(change.fields ?? []).flatMap(fieldLines),
    ];
  });
  return [...lines, ...ofStatus.map((change) => `${signs.change} ${change.kind} ${keyText(change)}: its status`)];
}

function keyText({ namespace, name }: ReportedChange): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** Whether only the status changes, as a consequence of other changes. */
function isStatusOnly({ do: verb, fields = [] }: ReportedChange): boolean {
  return verb === 'change' && fields.length > 0 && fields.every(({ path }) => /^status\b/.test(path));
}

/** Changes without objects that are removed with their namespace. */
function withoutContents(changes: readonly ReportedChange[]): readonly ReportedChange[] {
  const gone = new Set(changes.filter(removesNamespace).map(({ name }) => name));
  return changes.filter(({ namespace = '', by }) => !gone.has(namespace) || by.some((each) => each !== 'cluster'));
}

function removesNamespace({ do: verb, kind }: ReportedChange): boolean {
  return verb === 'remove' && kind === 'Namespace';
}

function fieldLines({ path, ...values }: FieldChange): string[] {
  const { before, after } = { ...values, ...values.text };
  if (before === undefined) return [`    ${path}: ${shortened(valueText(after))}`];
  if (after === undefined) return [`    ${path}: ${shortened(valueText(before))} → (removed)`];
  const [one, other] = [valueText(before), valueText(after)];
  const differences = isDiffed(before, after) ? textDiff(one, other) : undefined;
  if (differences === undefined) return [`    ${path}: ${pairText(one, other)}`];
  return [`    ${path}:`, ...differences.map((line) => `      ${line}`)];
}

/** Whether two values are shown as a diff: texts, which may be files, and long lists and maps. */
function isDiffed(before: unknown, after: unknown): boolean {
  if (typeof before === 'string' && typeof after === 'string') return true;
  const isStructure = [before, after].every((value) => typeof value === 'object' && value !== null);
  return isStructure && [before, after].some((value) => valueText(value).length > MAX_LENGTH);
}

function valueText(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : stringifyJson(value);
}

/** Two texts side by side; long ones from where they start to differ. */
function pairText(before: string, after: string): string {
  const [one, other] = [before, after].map(inOneLine) as [string, string];
  const isLong = Math.max(one.length, other.length) > MAX_LENGTH;
  const differs = isLong ? firstDifference(one, other) : 0;
  // Keep some of the common prefix as context.
  const start = differs > MAX_LENGTH / 2 ? differs - MAX_LENGTH / 4 : 0;
  return `${shortened(one, start)} → ${shortened(other, start)}`;
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}

/** A text in one line, truncated. */
function shortened(text: string, start = 0): string {
  const line = inOneLine(text);
  const part = start > 0 ? `…${line.slice(start)}` : line;
  return part.length > MAX_LENGTH ? `${part.slice(0, MAX_LENGTH - 1)}…` : part;
}

function inOneLine(text: string): string {
  return text.includes('\n') ? stringifyJson(text) : text;
}

/** The number of changes of each kind. */
export function countLine(changes: readonly ReportedChange[]): string {
  const all = withoutContents(changes);
  const shown = all.filter((change) => !isStatusOnly(change));
  const statuses = all.length - shown.length;
  const count = (verb: ReportedChange['do']): number => shown.filter((change) => change.do === verb).length;
  const replaced = count('replace') > 0 ? `${count('replace')} to replace, ` : '';
  const follow = statuses === 0 ? '' : ` ${statuses} ${statuses === 1 ? 'status follows' : 'statuses follow'}.`;
  return `${count('make')} to create, ${count('change')} to change, ${replaced}${count('remove')} to remove.${follow}`;
}

/** What controllers can't do, and why. */
export function stallLines(stalled: readonly ReportedStall[], paint: Paint): string[] {
  return stalled.map(
    ({ kind, object, controller, reason, message }) =>
      `${paint('bad', '!')} ${kind} ${object}: ${controller} can't go on: ${reason}: ${message}`,
  );
}
