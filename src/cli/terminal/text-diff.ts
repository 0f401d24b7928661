// Compares two long texts, such as files in a ConfigMap: JSON field by field, other texts line by line.

type Leaves = ReadonlyMap<string, string>;

/** The lines of the diff; undefined if the texts are too short or too long for one. */
export function textDiff(before: string, after: string): readonly string[] | undefined {
  const [one, other] = [jsonLeaves(before), jsonLeaves(after)];
  if (one !== undefined && other !== undefined) return leafDiff(one, other);
  const [old, next] = [before.split('\n'), after.split('\n')];
  if (old.length < 3 || next.length < 3 || old.length * next.length > MAX_CELLS) return undefined;
  return lineDiff(old, next);
}

/** The maximum size of the table of line pairs: larger ones take too long. */
const MAX_CELLS = 4_000_000;

/** The values in a JSON object or list, by path; undefined for other texts. */
function jsonLeaves(text: string): Leaves | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const leaves = new Map<string, string>();
  const add = (each: unknown, path: string): void => {
    const parts = typeof each === 'object' && each !== null ? Object.entries(each) : [];
    if (parts.length === 0) leaves.set(path, JSON.stringify(each));
    const isList = Array.isArray(each);
    for (const [name, inner] of parts) add(inner, isList ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`);
  };
  add(value, '');
  return leaves;
}

function leafDiff(before: Leaves, after: Leaves): readonly string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])];
  return paths.flatMap((path) => {
    const [one, other] = [before.get(path), after.get(path)];
    if (one === other) return [];
    if (one === undefined) return [`+ ${path}: ${other}`];
    return [other === undefined ? `- ${path}: ${one}` : `~ ${path}: ${one} → ${other}`];
  });
}

/** A diff by the longest common subsequence, without common lines. */
function lineDiff(before: readonly string[], after: readonly string[]): readonly string[] {
  const common = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const isSame = before[i] === after[j];
      common[i]![j] = isSame ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
    }
  }
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      i++;
      j++;
    } else if (j >= after.length || (i < before.length && common[i + 1]![j]! >= common[i]![j + 1]!)) {
      lines.push(`- ${before[i++]}`);
    } else lines.push(`+ ${after[j++]}`);
  }
  return lines;
}
