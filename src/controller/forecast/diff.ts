// The fields of an object that differ, for people to read. Fields that only the server sets, and times that follow from
// other changes, are left out.
import { compareQuantities, parseQuantity } from '../../kube/quantity.ts';
import { jsonEqual } from '../../watchable/index.ts';

/** A field that is added, changed or removed. */
export interface FieldChange {
  /** As people write it: `spec.targetName`, `status.conditions[Ready].reason`. */
  readonly path: string;
  /** Undefined if it was absent. */
  readonly before?: unknown;
  /** Undefined if it is removed. */
  readonly after?: unknown;
  /** Both in a readable form, if the values are for programs. */
  readonly text?: { readonly before?: string; readonly after?: string };
}

/** Fields that the server sets in the metadata of every object. */
export const SERVER_SET: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
]);

/** Fields that follow from other changes of a status. */
const FOLLOWING: ReadonlySet<string> = new Set(['lastTransitionTime', 'lastUpdatedTime', 'observedGeneration']);

/** Maps from resources to quantities: the server may store an equal quantity in another form. */
const QUANTITIES: ReadonlySet<string> = new Set([
  'limits',
  'requests',
  'hard',
  'default',
  'defaultRequest',
  'max',
  'min',
  'capacity',
]);

/** Replaces secret data. */
const HIDDEN = '(hidden)';

type Path = readonly string[];

/** The fields that differ between an object before and after. */
export function fieldChanges(before: object, after: object): readonly FieldChange[] {
  const isSecret = (after as { kind?: string }).kind === 'Secret';
  return [...differences(before, after, [])].map(({ at, ...values }) => {
    const isHidden = isSecret && (at[0] === 'data' || at[0] === 'stringData');
    return { path: pathOf(at), ...(isHidden ? hidden(values) : values) };
  });
}

/** A status without fields that follow from its other changes. */
export function withoutFollowing(status: unknown): unknown {
  if (Array.isArray(status)) return status.map(withoutFollowing);
  if (typeof status !== 'object' || status === null) return status;
  const fields = Object.entries(status).filter(([name, value]) => !FOLLOWING.has(name) && !isEmpty(value));
  return Object.fromEntries(fields.map(([name, value]) => [name, withoutFollowing(value)]));
}

/** Whether two objects are equal for people. */
export function sameFields(before: object, after: object): boolean {
  return differences(before, after, []).next().done === true;
}

interface Difference {
  readonly at: Path;
  readonly before?: unknown;
  readonly after?: unknown;
}

function* differences(before: unknown, after: unknown, at: Path): Generator<Difference> {
  if (isIgnored(at) || isSame(before, after, at)) return;
  // Labels and annotations are shown one by one, also if there were none before.
  const none = at.length === 2 && /^metadata\.(labels|annotations)$/.test(at.join('.')) ? {} : undefined;
  const [left, right] = [partsOf(before ?? none), partsOf(after ?? none)];
  if (left === undefined || right === undefined) {
    yield { at, ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
    return;
  }
  for (const name of new Set([...left.keys(), ...right.keys()])) {
    yield* differences(left.get(name), right.get(name), [...at, name]);
  }
}

function isIgnored(at: Path): boolean {
  if (at[0] === 'status') return FOLLOWING.has(at.at(-1)!);
  return at.length === 2 && at[0] === 'metadata' && SERVER_SET.has(at[1]!);
}

function isSame(before: unknown, after: unknown, at: Path): boolean {
  if (jsonEqual(before, after)) return true;
  // In a status and in metadata, an empty value equals an absent one.
  const isLoose = at[0] === 'status' || at[0] === 'metadata';
  if (isLoose && isEmpty(before) && isEmpty(after)) return true;
  if (!QUANTITIES.has(at.at(-2) ?? '')) return false;
  const [left, right] = [before, after].map((value) =>
    typeof value === 'string' || typeof value === 'number' ? parseQuantity(String(value)) : undefined,
  );
  return left !== undefined && right !== undefined && compareQuantities(left, right) === 0;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined) return true;
  return typeof value === 'object' && value !== null && Object.values(value).every(isEmpty);
}

/** The fields of a map, or the items of a list that have a unique name or type; undefined for anything else. */
function partsOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  for (const key of ['type', 'name', 'containerName']) {
    const names = value.map((item: unknown) => (item as Record<string, unknown> | null)?.[key]);
    const isKeyed = names.every((name) => typeof name === 'string') && new Set(names).size === names.length;
    if (isKeyed && value.length > 0) return new Map(value.map((item, i) => [`[${names[i] as string}]`, item]));
  }
  return undefined;
}

function pathOf(at: Path): string {
  const parts = at.map((part) => {
    if (part.startsWith('[')) return part;
    return /[./]/.test(part) ? `[${part}]` : `.${part}`;
  });
  return parts.join('').replace(/^\./, '');
}

function hidden({ before, after }: Pick<Difference, 'before' | 'after'>): Pick<Difference, 'before' | 'after'> {
  return { ...(before !== undefined && { before: HIDDEN }), ...(after !== undefined && { after: HIDDEN }) };
}
