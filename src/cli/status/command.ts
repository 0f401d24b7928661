// `offshoot status`: its flags and help.
import { Command } from 'commander';
import { clusterFlags, outputFlag, watchTreeFlag } from '../options.ts';
import type { StatusOptions } from './status.ts';

export function statusCommand(): Command {
  return clusterFlags(new Command('status'), 'all of them')
    .description('show on one screen which version runs, who leads, and what is not well and why')
    .addOption(outputFlag(['json', 'yaml']))
    .addOption(watchTreeFlag())
    .addHelpText(
      'after',
      `
Looked at are the pods of Offshoot, the Lease, definitions and webhook of each part, and the objects that it looks
after. With -n, objects of that namespace alone. What you may not read is named. With -w it is looked up every two
seconds, until you interrupt it.

Examples:
  offshoot status
  offshoot status -w
  offshoot status -o json

Exit codes:
  0    all is well
  1    something is not, or the command failed
  130  interrupted`,
    )
    .action(async (options: StatusOptions) => {
      const { status } = await import('./status.ts');
      await status(options);
    });
}
