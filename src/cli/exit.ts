// Exit codes of the command line, and the errors that carry them to main.ts.
import { ERRORS } from './errors/catalogue.ts';
import type { ErrorCode } from './errors/catalogue.ts';

export const EXIT = { ok: 0, error: 1, changes: 2, timedOut: 3, interrupted: 130, brokenPipe: 141 } as const;

const CHANGES_HELP = '\n  2    there are changes (plan)';

/** The exit codes in the `--help` of plan commands. */
export const PLAN_EXIT_HELP = `
Exit codes:
  0    done
  1    an error: the message says which${CHANGES_HELP}
  3    timed out while waiting
  130  interrupted`;

/** The exit codes in the `--help` of all other commands. */
export const EXIT_HELP = PLAN_EXIT_HELP.replace(CHANGES_HELP, '');

/** A failure with its own exit code. Without a message, everything has been printed already. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly exitCode: number;
  /** A code of the catalogue, or of routing diagnostics. */
  readonly code: string | undefined;

  constructor(exitCode: number, message = '', code?: string) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** A failure with a code of the catalogue, which determines the exit code. */
export function failure(code: ErrorCode, message: string): CommandFailed {
  return new CommandFailed(ERRORS[code].exit ?? EXIT.error, message, code);
}

/** A failure for an invalid flag or argument; `problem` says what is wrong and what to do. */
export function invalidFlag(flag: string, text: string, problem: string): CommandFailed {
  return failure('InvalidFlag', `${flag} "${text}": ${problem}`);
}

/** A failure for an invalid file of `-f`; `where` is the file with line and column. */
export function invalidFile(where: string, problem: string): CommandFailed {
  return failure('InvalidFile', `-f ${where}: ${problem}`);
}

/** Runs a function that Ctrl-C interrupts: its signal aborts, and the command fails with exit code 130. */
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

/** Called on EPIPE of an output stream. A SIGPIPE handler would also be called for broken connections. */
const brokenPipeListeners = new Set<() => void>();

/** Calls back, instead of exiting at once, when the reader of our output closes the pipe. */
export function onBrokenPipe(end: () => void): void {
  brokenPipeListeners.add(end);
}

/** Exits with the code of SIGPIPE when the reader of our output closes the pipe, as `head` does. */
export function exitOnBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE' && brokenPipeListeners.size > 0) return brokenPipeListeners.forEach((end) => end());
      if (error.code === 'EPIPE') process.exit(EXIT.brokenPipe);
      if (stream === process.stdout) console.error(`error: standard output: ${error.message}`);
      process.exit(EXIT.error);
    });
  }
}

/** The message of an error; for an error of the API server, the server's message. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { status } = error as Error & { status?: { readonly message?: string } };
  return status?.message ?? error.message;
}
