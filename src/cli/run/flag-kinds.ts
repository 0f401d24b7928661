// Kinds of flags that several groups of settings share.
import { InvalidArgumentError, Option } from 'commander';
import { parseBoolean } from './go-flags.ts';
import { durationFlag } from '../options.ts';

/** A flag with two choices; the first is the default. */
export function choiceFlag(flag: string, [first, second]: readonly [string, string], description: string): Option {
  return new Option(`${flag} <how>`, description).choices([first, second]).default(first);
}

/** A flag that is on or off, also as `--flag=false`. */
export function toggleFlag(flag: string, initial: boolean, description: string): Option {
  return new Option(`${flag} [bool]`, description).argParser(parseBoolean).preset('true').default(initial);
}

/** A flag that takes a duration, in milliseconds. */
export function timeFlag(flag: string, initial: string, least: string, description: string): Option {
  const parse = (text: string): number => {
    const ms = durationFlag(text);
    if (ms >= durationFlag(least)) return ms;
    throw new InvalidArgumentError(`It must be at least ${least}.`);
  };
  return new Option(`${flag} <duration>`, description).argParser(parse).default(parse(initial), initial);
}

/** A flag that is parsed, with an environment variable. */
export function parsedFlag<T>(
  flags: string,
  description: string,
  parse: (text: string, before: T) => T,
  variable: string,
): Option {
  return new Option(flags, description).argParser(parse).env(variable);
}
