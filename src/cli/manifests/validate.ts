// `offshoot env validate` and `offshoot claim validate`: check schema and admission rules without a cluster.
import { Command } from 'commander';
import type { Check } from './check.ts';
import { CommandFailed, EXIT, failure } from '../exit.ts';
import { filenameFlag } from '../options.ts';

interface ValidateOptions {
  readonly filename: readonly string[];
  readonly namespace: string;
}

interface Validation {
  readonly description: string;
  /** The name of the checked kinds in messages. */
  readonly one: string;
  readonly help: string;
  /** Loaded on demand, so that other commands start without it. */
  readonly checks: () => Promise<readonly Check[]>;
}

/** A command that checks manifests of some kinds. */
export function validateCommand({ description, one, help, checks }: Validation): Command {
  return new Command('validate')
    .description(description)
    .addOption(filenameFlag('what to check').makeOptionMandatory())
    .option('-n, --namespace <name>', 'namespace of objects that name none', 'default')
    .addHelpText(
      'after',
      `${help}

Exit codes:
  0    everything would be admitted
  1    something would be refused: each line says where and why`,
    )
    .action(async ({ filename, namespace }: ValidateOptions) => {
      const [{ checkManifests }, { filesOf }, kinds] = await Promise.all([
        import('./check.ts'),
        import('./read.ts'),
        checks(),
      ]);
      const { findings, valid } = checkManifests(filename.flatMap(filesOf), namespace, kinds);
      for (const name of valid) console.log(`${name} is valid`);
      for (const { source, line, column, message, isWarning } of findings) {
        console.error(`${source}:${line}:${column}: ${isWarning ? 'warning: ' : ''}${message}`);
      }
      if (!findings.every(({ isWarning }) => isWarning)) throw new CommandFailed(EXIT.error);
      if (valid.length > 0) return;
      throw failure('InvalidFile', `-f ${filename.join(', ')}: there is no ${one} in it`);
    });
}
