// Kinds of flags that several groups of settings have.
import { InvalidArgumentError, Option } from 'commander';
import { parseBoolean } from './go-flags.ts';
import { durationOf } from '../options.ts';

/** A flag that takes one of two words; the first is the default. */
export function choice(flag: string, [first, second]: readonly [string, string], description: string): Option {
  return new Option(`${flag} <how>`, description).choices([first, second]).default(first);
}

/** A flag that is on or off, also as `--flag=false`. */
export function toggle(flag: string, initial: boolean, description: string): Option {
  return new Option(`${flag} [bool]`, description).argParser(parseBoolean).preset('true').default(initial);
}

/** A flag that takes a duration, in milliseconds. */
export function time(flag: string, initial: string, least: string, description: string): Option {
  const parse = (text: string): number => {
    const ms = durationOf(text);
    if (ms >= durationOf(least)) return ms;
    throw new InvalidArgumentError(`It must be at least ${least}.`);
  };
  return new Option(`${flag} <duration>`, description).argParser(parse).default(parse(initial), initial);
}
