// How large the program of a regular expression is in a proxy, at most. It is counted from the text, because each RE2
// simplifies programs in its own way.
import { bytesOfCharacter, bytesOfToken } from './bytes.ts';
import { tokensOf } from './tokens.ts';

/** A group whose end has not been found yet. */
interface Group {
  /** The size of its parts but the last one. */
  readonly before: number;
  /** The size of its last part, to which a repetition would apply. */
  readonly last: number;
  /** Whether its last part is a character or a class, whose branches are never there twice, and which is never empty. */
  readonly isSingle?: boolean;
}

/** Quoted text that is empty: a repetition after it applies to what is before it. */
const NOTHING = String.raw`\Q\E`;
/** A place between two characters. */
const ASSERTION = /^(?:[$^]|\\[ABbz])$/;
const EMPTY: Group = { before: 0, last: 0 };

/** The number of instructions in a proxy, at most, for an expression that RE2 accepts. */
export function sizeInProxy(regex: string): number {
  const ignoresCase = /\(\?[msU]*i/.test(regex);
  const sizes = new Map<string, number>();
  const outer: Group[] = [];
  let group = EMPTY;
  for (const { text, groups } of tokensOf(regex)) {
    const { flags, open, repeat, quoted } = groups;
    if (flags !== undefined || quoted === NOTHING) continue;
    const before = group.before + group.last;
    if (open !== undefined) {
      outer.push(group);
      // Where a capturing group begins and ends is remembered.
      group = { before: open.endsWith(':') ? 0 : 2, last: 0 };
    } else if (text === ')') {
      const around = outer.pop() ?? EMPTY;
      group = { before: around.before + around.last, last: before };
    } else if (text === '|') {
      // A branch, and one more: a repetition takes more among alternatives than alone.
      group = { before: before + 2, last: 0 };
    } else if (repeat !== undefined) {
      const { min, max = min } = groups;
      const copies = Math.max(1, Number(max || min || 1));
      const isFixed = min !== undefined && max === min;
      // Some of the branches in a group are there twice.
      const varied = group.isSingle ? group.last : Math.ceil(1.5 * group.last);
      // A copy that may be left out takes one more, one that may begin again takes two, or four if it may be empty.
      const isOpen = max === '' || /^[*+]/.test(repeat);
      const again = group.isSingle ? 2 : 4;
      const size = isFixed ? group.last : varied + (isOpen ? again : 1);
      group = { before: group.before, last: copies * size };
    } else if (quoted !== undefined) {
      const last = Array.from(text, (each) => bytesOfCharacter(each.codePointAt(0)!, ignoresCase));
      group = { before, last: last.reduce((sum, each) => sum + each, 0) };
    } else {
      const size = sizes.get(text) ?? bytesOfToken(text, ignoresCase);
      sizes.set(text, size);
      group = { before, last: size, isSingle: !ASSERTION.test(text) };
    }
  }
  return group.before + group.last;
}
