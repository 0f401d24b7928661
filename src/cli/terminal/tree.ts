// Formats trees, for the `describe` commands.
import type { TreeNode } from '../../api/description/tree.ts';
import { toneOf } from './colour.ts';
import type { Paint } from './colour.ts';

/** A tree as lines, with branches. */
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
