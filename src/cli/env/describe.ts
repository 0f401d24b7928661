// `offshoot env describe`: shows one environment as a tree.
import type { Paint } from '../terminal/colour.ts';
import { ENVIRONMENT } from './get.ts';
import { describeObject, descriptionLines } from '../objects/describe.ts';
import type { DescribeOptions } from '../objects/describe.ts';
import { timeLeft } from '../terminal/table.ts';
import { describeEnvironment, environmentWorld, withExceptions } from '../../environments/index.ts';
import type { EnvironmentDescription } from '../../environments/index.ts';

export function describeCommand(name: string, options: DescribeOptions): Promise<void> {
  return describeObject(ENVIRONMENT, name, options, {
    describe: (read, env) => describeEnvironment(environmentWorld(read, env)),
    data: (description) => description,
    lines: environmentLines,
  });
}

/** A description as lines of text. */
export function environmentLines(description: EnvironmentDescription, paint: Paint, now: number): string[] {
  const { environment: tree, match, exceptions, call, expiresAt, events } = description;
  const requests = `Requests  ${withExceptions(match, exceptions)}`;
  const tries = call.map((command, i) => `${i === 0 ? 'Try       ' : '          '}${command}`);
  const expires = expiresAt === undefined ? [] : [`Expires   ${expiresAt} (${timeLeft(expiresAt, now)})`];
  return descriptionLines({ tree, events }, ['', requests, ...tries, ...expires], paint, now);
}
