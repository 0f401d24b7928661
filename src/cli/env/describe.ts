// `offshoot env describe`: everything about one environment, as a tree.
import { painter } from '../terminal/colour.ts';
import type { Paint } from '../terminal/colour.ts';
import { getEnvironment } from './get.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { dataText } from '../terminal/output.ts';
import { eventLines } from '../terminal/events.ts';
import { fetchFor } from '../objects/fetch.ts';
import { treeLines } from '../terminal/tree.ts';
import { describeEnvironment, environmentWorld } from '../../environments/index.ts';
import type { EnvironmentDescription } from '../../environments/index.ts';

export interface DescribeOptions extends ClusterOptions {
  readonly output?: 'json' | 'yaml';
}

/** Prints the tree of an environment. */
export function describeCommand(name: string, options: DescribeOptions): Promise<void> {
  return withConnection(options, async ({ client, namespace }) => {
    const env = await getEnvironment(client, { name, namespace });
    const description = await fetchFor(client, (read) => describeEnvironment(environmentWorld(read, env)));
    if (options.output !== undefined) process.stdout.write(dataText(options.output, description));
    else console.log(descriptionLines(description, painter(process.stdout), Date.now()).join('\n'));
  });
}

/** A description as lines of text. */
export function descriptionLines(description: EnvironmentDescription, paint: Paint, now: number): string[] {
  const { environment, match, call, events } = description;
  return [
    ...treeLines(environment, paint),
    '',
    `Requests  ${match}`,
    ...call.map((command, i) => `${i === 0 ? 'Try       ' : '          '}${command}`),
    ...eventLines(events, paint, now),
  ];
}
