// Subsets and consumers with their field paths, for admission errors.
import type { DynamicEnv, Subset } from '../../api/dynamicenv.ts';
import { formatValue } from './invalid-value.ts';

/** The path of a field, such as spec.subsets[0]. */
export type FieldPath = readonly (string | number)[];

/** A subset or consumer, and its field path. */
export interface PlacedItem {
  readonly item: Subset;
  readonly at: FieldPath;
}

export function placedItems({ spec }: DynamicEnv): readonly PlacedItem[] {
  return (['subsets', 'consumers'] as const).flatMap((list) =>
    (spec?.[list] ?? []).map((item, index) => ({ item, at: ['spec', list, index] })),
  );
}

/** Subsets and consumers that are new or differ from the old environment. */
export function changedItems(env: DynamicEnv, old?: DynamicEnv): readonly PlacedItem[] {
  const before = new Set((old ? placedItems(old) : []).map(identity));
  return placedItems(env).filter((each) => !before.has(identity(each)));
}

/** Equal for equal items of the same list, whatever their position. */
function identity({ item, at }: PlacedItem): string {
  return `${at[1]} ${formatValue.subset(item)}`;
}

/** A field path as text: `spec.subsets[0].name`. */
export function pathOf(at: FieldPath): string {
  return at.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('');
}
