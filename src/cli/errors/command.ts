// `offshoot errors`: its flags and help.
import { Command } from 'commander';
import { EXIT_HELP } from '../exit.ts';
import { outputFlag } from '../options.ts';
import type { ErrorsOptions } from './explain.ts';

export function errorsCommand(): Command {
  return new Command('errors')
    .description('explain the code of an error, and what to do about it')
    .argument('[CODE]', 'the code (default: all of them)')
    .addOption(outputFlag(['table', 'wide', 'json', 'yaml', 'name'], 'table'))
    .option('--no-headers', 'do not print headers')
    .addHelpText(
      'after',
      `
The codes of routing diagnostics are explained as well.

Examples:
  offshoot errors NotFound
  offshoot errors -o wide
${EXIT_HELP}`,
    )
    .action(async (code: string | undefined, options: ErrorsOptions) => {
      const { explainErrors } = await import('./explain.ts');
      explainErrors(code, options);
    });
}
