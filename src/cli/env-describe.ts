// `offshoot env describe`: everything about one environment, as a tree.
import { painter, toneOf } from './colour.ts';
import type { Paint } from './colour.ts';
import { getEnvironment } from './env-get.ts';
import { readWorld } from './env-world.ts';
import { connected } from './options.ts';
import type { ClusterOptions } from './options.ts';
import { dataText } from './output.ts';
import { age } from './table.ts';
import { describeEnvironment } from './tree.ts';
import type { Description, TreeNode } from './tree.ts';

export interface DescribeOptions extends ClusterOptions {
  readonly output?: 'json' | 'yaml';
}

/** Prints the tree of an environment. */
export function describeCommand(name: string, options: DescribeOptions): Promise<void> {
  return connected(options, async ({ client, namespace }) => {
    const env = await getEnvironment(client, { name, namespace });
    const description = describeEnvironment(await readWorld(client, env));
    if (options.output !== undefined) process.stdout.write(dataText(options.output, description));
    else console.log(descriptionLines(description, painter(process.stdout), Date.now()).join('\n'));
  });
}

/** A description as lines of text. */
export function descriptionLines(description: Description, paint: Paint, now: number): string[] {
  const { environment, match, call, events } = description;
  return [
    ...treeLines(environment, paint),
    '',
    `Requests  ${match}`,
    ...call.map((command, i) => `${i === 0 ? 'Try       ' : '          '}${command}`),
    ...(events.length === 0 ? [] : ['', 'Events']),
    ...events.map(({ time, type, reason, note }) => {
      const when = age(time, now).padStart(5);
      return `  ${paint('quiet', when)}  ${paint(type === 'Warning' ? 'bad' : 'plain', reason)}  ${note}`;
    }),
  ];
}

/** A tree as lines, drawn with branches. */
function treeLines(root: TreeNode, paint: Paint): string[] {
  const lines: string[] = [];
  const add = (node: TreeNode, own: string, below: string): void => {
    const { kind, name, state, detail, reasons = [], children = [] } = node;
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
