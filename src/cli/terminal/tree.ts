// Trees of the parts that something consists of, every part with its state and why it is not as it should be. The
// `describe` commands make them and print them with `treeLines`.
import { toneOf } from './colour.ts';
import type { Paint } from './colour.ts';

export interface TreeNode {
  readonly kind: string;
  readonly name: string;
  readonly state: string;
  /** What a person wants to see beside the state. */
  readonly detail?: string;
  /** Why it is not as it should be. */
  readonly reasons?: readonly string[];
  readonly children?: readonly TreeNode[];
}

/** A part; what is empty is left out, and no reason is given twice. */
export function node(
  kind: string,
  name: string,
  state: string,
  rest: Omit<TreeNode, 'kind' | 'name' | 'state'> = {},
): TreeNode {
  const { detail = '', reasons = [], children = [] } = rest;
  return {
    kind,
    name,
    state,
    ...(detail !== '' && { detail }),
    ...(reasons.length > 0 && { reasons: [...new Set(reasons)] }),
    ...(children.length > 0 && { children }),
  };
}

/** Everything in a tree that is not as it should be: the part, and why. */
export function problemsOf({ kind, name, reasons = [], children = [] }: TreeNode): string[] {
  return [...reasons.map((reason) => `${kind} ${name}: ${reason}`), ...children.flatMap(problemsOf)];
}

/** A tree as lines, drawn with branches. */
export function treeLines(root: TreeNode, paint: Paint): string[] {
  const lines: string[] = [];
  const add = (part: TreeNode, own: string, below: string): void => {
    const { kind, name, state, detail, reasons = [], children = [] } = part;
    const text = `${paint('quiet', kind)} ${name}  ${paint(toneOf(state), state)}`;
    lines.push(`${paint('quiet', own)}${text}${detail === undefined ? '' : `  ${detail}`}`);
    const stem = children.length > 0 ? '│  ' : '   ';
    for (const reason of reasons) lines.push(`${paint('quiet', below + stem)}${paint('bad', '!')} ${reason}`);
    children.forEach((child, i) => {
      const last = i === children.length - 1;
      add(child, `${below}${last ? '└─ ' : '├─ '}`, `${below}${last ? '   ' : '│  '}`);
    });
  };
  add(root, '', '');
  return lines;
}
