// The command line. Each command is thin: it parses, calls a room, prints.
import { readFileSync } from 'node:fs';
import { Command } from 'commander';

/** The version of this package, in a checkout as in a bundle. */
function version(): string {
  const manifest = new URL('../../package.json', import.meta.url);
  const bundled = new URL('../package.json', import.meta.url);
  for (const file of [manifest, bundled]) {
    try {
      const { name, version: found } = JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string };
      if (name === 'offshoot' && found !== undefined) return found;
    } catch {
      // The other place has it.
    }
  }
  return 'unknown';
}

/** All commands. */
export function program(): Command {
  return new Command('offshoot')
    .description('On-demand environments on the Kubernetes cluster and service mesh you already run.')
    .version(version(), '-V, --version', 'print the version')
    .showHelpAfterError('Try "offshoot --help".')
    .showSuggestionAfterError();
}

/** Runs the command that the arguments name. */
export async function main(argv: readonly string[]): Promise<void> {
  await program().parseAsync([...argv]);
}
