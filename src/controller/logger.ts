// Structured logs: one JSON object per line for programs, one readable line for a person at a terminal.
import { styleText } from 'node:util';
import { pino } from 'pino';
import type { Logger } from 'pino';
import { ApiError } from '../kube/errors.ts';

export type { Logger };

export interface LoggerOptions {
  readonly level?: string;
  readonly format?: 'json' | 'human';
  /** Where lines go: standard error by default. */
  readonly write?: (line: string) => void;
}

/** Creates the root logger of a process. */
export function createLogger(options: LoggerOptions = {}): Logger {
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const human = (options.format ?? (process.stderr.isTTY ? 'human' : 'json')) === 'human';
  return pino(
    {
      level: options.level ?? 'info',
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorFields },
    },
    { write: human ? (line: string) => write(`${humanLine(line)}\n`) : write },
  );
}

/** An error on one line. The answer of the server is enough; other errors need their stack. */
function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name: type, message, stack, cause } = error;
  const isAnswer = error instanceof ApiError || cause instanceof ApiError;
  return { type, message, ...(!isAnswer && { stack }) };
}

const LEVELS: Readonly<Record<number, readonly [string, 'gray' | 'green' | 'yellow' | 'red']>> = {
  10: ['trace', 'gray'],
  20: ['debug', 'gray'],
  30: ['info', 'green'],
  40: ['warn', 'yellow'],
  50: ['error', 'red'],
  60: ['fatal', 'red'],
};

function humanLine(line: string): string {
  const { level, time, msg, err, ...rest } = JSON.parse(line) as {
    level: number;
    time: string;
    msg?: string;
    err?: { message?: string; stack?: string };
  };
  const [name, colour] = LEVELS[level] ?? ['log', 'gray'];
  const fields = Object.entries(rest).map(([key, value]) => ` ${styleText('gray', `${key}=`)}${plain(value)}`);
  const failure = err === undefined ? '' : `: ${err.message ?? ''}${level >= 50 && err.stack ? `\n${err.stack}` : ''}`;
  return `${styleText('gray', time.slice(11, 23))} ${styleText(colour, name.padEnd(5))} ${msg ?? ''}${failure}${fields.join('')}`;
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
