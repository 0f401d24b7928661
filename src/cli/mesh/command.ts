// `offshoot mesh`: the commands for Istio's own life, with their flags and help. What they do is loaded when it is needed.
import { Command } from 'commander';
import { EXIT_HELP } from '../exit.ts';
import { clusterFlags, outputFlag } from '../options.ts';
import type { StatusOptions } from './status.ts';

export function meshCommand(): Command {
  return new Command('mesh')
    .description('the life of Istio: what is installed, and what would change')
    .addCommand(statusCommand())
    .addHelpText('after', '\nExample:\n  offshoot mesh status');
}

function statusCommand(): Command {
  return clusterFlags(new Command('status'))
    .description('show versions, components, restarts that are to be done, and what blocks a deletion')
    .addOption(outputFlag(['table', 'wide', 'json', 'yaml', 'name'], 'table'))
    .addHelpText(
      'after',
      `
With -o wide the pods of Istio are shown as well.

Examples:
  offshoot mesh status
  offshoot mesh status -o json
${EXIT_HELP}`,
    )
    .action(async (options: StatusOptions) => {
      const { meshStatusCommand } = await import('./status.ts');
      await meshStatusCommand(options);
    });
}
