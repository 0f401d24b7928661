// `offshoot env describe`: everything about one environment, as a tree.
import { painter } from '../terminal/colour.ts';
import type { Paint } from '../terminal/colour.ts';
import { getEnvironment } from './get.ts';
import { withConnection } from '../options.ts';
import { dataText } from '../terminal/output.ts';
import { descriptionLines } from '../objects/describe.ts';
import type { DescribeOptions } from '../objects/describe.ts';
import { timeLeft } from '../terminal/table.ts';
import { fetchFor } from '../objects/fetch.ts';
import { describeEnvironment, environmentWorld } from '../../environments/index.ts';
import type { EnvironmentDescription } from '../../environments/index.ts';

/** Prints the tree of an environment. */
export function describeCommand(name: string, options: DescribeOptions): Promise<void> {
  return withConnection(options, async ({ client, namespace }) => {
    const env = await getEnvironment(client, { name, namespace });
    const description = await fetchFor(client, (read) => describeEnvironment(environmentWorld(read, env)));
    if (options.output !== undefined) process.stdout.write(dataText(options.output, description));
    else console.log(environmentLines(description, painter(process.stdout), Date.now()).join('\n'));
  });
}

/** A description as lines of text. */
export function environmentLines(description: EnvironmentDescription, paint: Paint, now: number): string[] {
  const { environment: tree, match, call, expiresAt, events } = description;
  const tries = call.map((command, i) => `${i === 0 ? 'Try       ' : '          '}${command}`);
  const expires = expiresAt === undefined ? [] : [`Expires   ${expiresAt} (${timeLeft(expiresAt, now)})`];
  return descriptionLines({ tree, events }, ['', `Requests  ${match}`, ...tries, ...expires], paint, now);
}
