// Flags as manifests of Riskified's operator pass them: with one dash or two, and those of its logger. So a Deployment
// keeps its arguments when it gets another image.
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { LoggerOptions } from '../../controller/index.ts';

export interface LogOptions {
  readonly logLevel?: string;
  readonly logFormat?: 'json' | 'human';
  readonly zapLogLevel?: string;
  readonly zapEncoder?: 'json' | 'human';
  readonly zapDevel?: boolean;
}

/** Adds the flags of the other logger, which help does not show. Two of them have nothing to say here. */
export function zapFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--zap-devel [bool]', 'log as --log-level debug --log-format human')
        .argParser(parseBoolean)
        .preset('true')
        .hideHelp(),
    )
    .addOption(new Option('--zap-encoder <encoder>', 'log format: json or console').argParser(parseEncoder).hideHelp())
    .addOption(new Option('--zap-log-level <level>', 'log level').argParser(parseLevel).hideHelp())
    .addOption(new Option('--zap-stacktrace-level <level>', 'ignored').hideHelp())
    .addOption(new Option('--zap-time-encoding <encoding>', 'ignored').hideHelp());
}

/** How to log: our own flags before those of the other logger. */
export function loggerOptions(options: LogOptions): LoggerOptions {
  const format = options.logFormat ?? options.zapEncoder ?? (options.zapDevel ? 'human' : undefined);
  const level = options.logLevel ?? options.zapLogLevel ?? (options.zapDevel ? 'debug' : 'info');
  return { level, ...(format !== undefined && { format }) };
}

/** Arguments with two dashes where one stands before the name of a long flag of the command. */
export function withTwoDashes(args: readonly string[], { options }: Command): readonly string[] {
  const names = new Set(options.map(({ long }) => long));
  return args.map((argument) => {
    const name = /^-[a-z][-a-z]+(?==|$)/.exec(argument)?.[0];
    return name !== undefined && names.has(`-${name}`) ? `-${argument}` : argument;
  });
}

/** Truth as Go writes it. */
export function parseBoolean(text: string): boolean {
  if (/^(true|1|t)$/i.test(text)) return true;
  if (/^(false|0|f)$/i.test(text)) return false;
  throw new InvalidArgumentError('It is true or false.');
}

function parseEncoder(text: string): 'json' | 'human' {
  if (text === 'json') return 'json';
  if (text === 'console') return 'human';
  throw new InvalidArgumentError('It is json or console.');
}

/** Words, or how much more than usual to say. */
function parseLevel(text: string): string {
  if (/^[1-9]\d*$/.test(text)) return text === '1' ? 'debug' : 'trace';
  if (text === 'panic') return 'fatal';
  if (['debug', 'info', 'error'].includes(text)) return text;
  throw new InvalidArgumentError('It is debug, info, error, panic or a whole number of at least 1.');
}
