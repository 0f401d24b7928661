// Accepts flags as in manifests of Riskified's operator: with one dash or two, and those of its logger. So a Deployment
// can switch the image and keep its arguments.
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

/** Adds the flags of the zap logger, hidden from help. Two of them have no effect. */
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

/** The logger options; our own flags override those of zap. */
export function loggerOptions(options: LogOptions): LoggerOptions {
  const format = options.logFormat ?? options.zapEncoder ?? (options.zapDevel ? 'human' : undefined);
  const level = options.logLevel ?? options.zapLogLevel ?? (options.zapDevel ? 'debug' : 'info');
  return { level, ...(format !== undefined && { format }) };
}

/** Replaces one dash before a long flag of the command by two. */
export function withTwoDashes(args: readonly string[], { options }: Command): readonly string[] {
  const names = new Set(options.map(({ long }) => long));
  return args.map((argument) => {
    const name = /^-[a-z][-a-z]+(?==|$)/.exec(argument)?.[0];
    return name !== undefined && names.has(`-${name}`) ? `-${argument}` : argument;
  });
}

/** Parses a boolean as Go does. */
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

/** Parses a zap level: a name, or a verbosity number. */
function parseLevel(text: string): string {
  if (/^[1-9]\d*$/.test(text)) return text === '1' ? 'debug' : 'trace';
  if (text === 'panic') return 'fatal';
  if (['debug', 'info', 'error'].includes(text)) return text;
  throw new InvalidArgumentError('It is debug, info, error, panic or a whole number of at least 1.');
}
