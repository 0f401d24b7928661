// `offshoot version`: its flags and help.
import { Command } from 'commander';
import { EXIT_HELP } from '../exit.ts';
import { clusterFlags, outputFlag } from '../options.ts';
import type { VersionOptions } from './versions.ts';

export function versionCommand(): Command {
  return clusterFlags(new Command('version'))
    .description('print the version of this program, and of each part that runs in the cluster')
    .option('--client', 'only the version of this program; no cluster is contacted')
    .addOption(outputFlag(['json', 'yaml']))
    .addHelpText(
      'after',
      `
A part is running if a process holds its lease. If there is no cluster, or it does not answer, that is reported instead.

Examples:
  offshoot version
  offshoot version --client -o json
${EXIT_HELP}`,
    )
    .action(async (options: VersionOptions) => {
      const { printVersions } = await import('./versions.ts');
      await printVersions(options);
    });
}
