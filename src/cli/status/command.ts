// `offshoot status`: its flags and help.
import { Command } from 'commander';
import { clusterFlags, outputFlag, watchTreeFlag } from '../options.ts';
import type { StatusOptions } from './status.ts';

export function statusCommand(): Command {
  return clusterFlags(new Command('status'), 'all of them')
    .description('show the version, leaders and health of Offshoot, and the reason for anything unhealthy')
    .addOption(outputFlag(['json', 'yaml']))
    .addOption(watchTreeFlag())
    .addHelpText(
      'after',
      `
This checks the pods of Offshoot; the Lease, definitions and webhook of each part; and the objects that it manages.
With -n, only objects of that namespace. What you have no permission to read is listed. With -w it is looked up every two
seconds, until you interrupt it.

Examples:
  offshoot status
  offshoot status -w
  offshoot status -o json

Exit codes:
  0    everything is healthy
  1    something is not healthy, or the command failed
  130  interrupted`,
    )
    .action(async (options: StatusOptions) => {
      const { status } = await import('./status.ts');
      await status(options);
    });
}
