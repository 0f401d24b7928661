// Exit codes of the command line, and the errors that carry them to main.ts.
import { ERRORS } from './errors/catalogue.ts';
import type { ErrorCode } from './errors/catalogue.ts';

export const EXIT = { ok: 0, error: 1, changes: 2, timedOut: 3, interrupted: 130, brokenPipe: 141 } as const;

const CHANGES_HELP = '\n  2    there are changes (plan)';

/** What the `--help` of commands that plan says of exit codes: all that there are. */
export const PLAN_EXIT_HELP = `
Exit codes:
  0    done
  1    an error: the message says which${CHANGES_HELP}
  3    timed out while waiting
  130  interrupted`;

/** What every other `--help` says of them. */
export const EXIT_HELP = PLAN_EXIT_HELP.replace(CHANGES_HELP, '');

/** A failure with an exit code of its own. One without a message has said everything already. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly exitCode: number;
  /** One of the catalogue, or of routing diagnostics. */
  readonly code: string | undefined;

  constructor(exitCode: number, message = '', code?: string) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** A failure with a code of the catalogue, which says how the command ends. */
export function failure(code: ErrorCode, message: string): CommandFailed {
  return new CommandFailed(ERRORS[code].exit ?? EXIT.error, message, code);
}

/** What is wrong with the value of a flag or an argument, and what to do. */
export function invalidFlag(flag: string, text: string, problem: string): CommandFailed {
  return failure('InvalidFlag', `${flag} "${text}": ${problem}`);
}

/** What is wrong at a place of a file that `-f` names. */
export function invalidFile(where: string, problem: string): CommandFailed {
  return failure('InvalidFile', `-f ${where}: ${problem}`);
}

/** Runs something that Ctrl-C ends: its signal aborts, and the command fails with the code for that. */
export async function interruptible<R>(run: (signal: AbortSignal) => Promise<R>): Promise<R> {
  const controller = new AbortController();
  const interrupt = (): void => controller.abort(new CommandFailed(EXIT.interrupted));
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, interrupt);
  try {
    return await run(controller.signal);
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
  }
}

/** Called when nobody reads any more. SIGPIPE would not do: each broken connection would be one. */
const whenUnread = new Set<() => void>();

/** Calls back, instead of ending at once, when whoever reads what we print has left. */
export function whenReaderLeaves(end: () => void): void {
  whenUnread.add(end);
}

/** Ends as a shell expects it when whoever reads what we print has left, as `head` does. */
export function exitWhenReaderLeaves(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE' && whenUnread.size > 0) return whenUnread.forEach((end) => end());
      if (error.code === 'EPIPE') process.exit(EXIT.brokenPipe);
      if (stream === process.stdout) console.error(`error: standard output: ${error.message}`);
      process.exit(EXIT.error);
    });
  }
}

/** What to tell of an error, in one paragraph; of what the API server refused, its own words. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { status } = error as Error & { status?: { readonly message?: string } };
  return status?.message ?? error.message;
}
