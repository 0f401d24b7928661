// Says in plain words what the YAML library reports in terms of the YAML specification.
import type { YAMLParseError } from 'yaml';

const NESTED = /^Nested mappings are not allowed/;

/** One mistake often has several errors in a line: the first of these is said. */
const PLAIN: readonly (readonly [found: RegExp, plain: string])[] = [
  [/^Tabs are not allowed/, 'a tab in the indentation: use spaces'],
  [/^Missing closing (.)quote/, 'a quote ($1) is not closed'],
  [/^Flow .* end with a (.)$/, '"$1" is missing, or a line before it is not indented'],
  [/^Unexpected block-seq-ind|^A block sequence may not be/, 'an item of a list among the keys of a mapping'],
  [/^All mapping items must start at the same column/, 'the keys of a mapping must be indented alike'],
  [/^All sequence items must start at the same column/, 'the items of a list must be indented alike'],
  [NESTED, 'a second ": " in one line: put the value in quotes, or on a line of its own'],
  [/^Implicit map keys need to be followed by map values/, 'a key without ":"'],
];

/** Nested mappings, one of them over several lines: the value seems to continue in the next line. */
const CONTINUED = /^Implicit keys need to be on a single line/;
const TOO_FAR = 'the line after this value is indented too far, or the value needs quotes';

/** The mistakes in a document, at most one in a line. */
export function plainMistakes(
  errors: readonly YAMLParseError[],
): { readonly offset: number; readonly message: string }[] {
  const lines = Map.groupBy(errors, ({ linePos, pos }) => linePos?.[0].line ?? pos[0]);
  return [...lines.values()].map((same) => {
    const all = same.map(({ pos, message }) => ({ offset: pos[0], message: firstLine(message) }));
    for (const [found, plain] of PLAIN) {
      const one = all.find(({ message }) => found.test(message));
      if (one === undefined) continue;
      const isContinued = found === NESTED && all.some(({ message }) => CONTINUED.test(message));
      return { ...one, message: isContinued ? TOO_FAR : one.message.match(found)![0].replace(found, plain) };
    }
    return all[0]!;
  });
}

/** Without the position, and without the excerpt of the file that follows. */
function firstLine(message: string): string {
  return message.split('\n')[0]!.replace(/ at line \d+.*$/, '');
}
