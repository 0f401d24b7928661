// Runs the subcommand of a script. For scripts that start real software, such as real-cluster.ts.
import { fetchPrograms, programsOf } from '../test/programs/programs.ts';
import type { ProgramSet } from '../test/programs/programs.ts';

export type Subcommands = Readonly<Record<string, (args: readonly string[]) => Promise<void>>>;

/** Calls the function that the first argument names with the other arguments; an error is printed with exit code 1. */
export async function runSubcommand(script: string, subcommands: Subcommands): Promise<void> {
  const [name = '', ...args] = process.argv.slice(2);
  const subcommand = subcommands[name];
  if (subcommand === undefined) {
    process.stderr.write(`usage: npm run ${script} -- ${Object.keys(subcommands).join('|')}\n`);
    process.exitCode = 64;
    return;
  }
  try {
    await subcommand(args);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}

/** The subcommands `fetch` and `path`, which all these scripts have. */
export function programCommands(sets: readonly ProgramSet[]): Subcommands {
  return {
    async fetch() {
      const started = Date.now();
      for (const set of sets) console.log(await fetchPrograms(set, (line) => process.stderr.write(`${line}\n`)));
      process.stderr.write(`ready after ${Math.round((Date.now() - started) / 1000)} s\n`);
    },
    async path() {
      for (const set of sets) console.log(programsOf(set));
    },
  };
}

/** Resolves on Ctrl-C. */
export async function interrupted(): Promise<void> {
  process.stderr.write('Ctrl-C stops it\n');
  await new Promise<void>((resolve) => {
    const alive = setInterval(() => undefined, 60_000);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        clearInterval(alive);
        resolve();
      });
    }
  });
}
