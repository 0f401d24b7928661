// `offshoot version`: its flags and help.
import { Command } from 'commander';
import { EXIT_HELP } from '../exit.ts';
import { clusterFlags, outputFlag } from '../options.ts';
import type { VersionOptions } from './versions.ts';

export function versionCommand(): Command {
  return clusterFlags(new Command('version'))
    .description('print the version of this program, and of what runs in the cluster, part by part')
    .option('--client', 'only that of this program; no cluster is asked')
    .addOption(outputFlag(['json', 'yaml']))
    .addHelpText(
      'after',
      `
A part runs where somebody holds its lease. Where there is no cluster to ask, or it does not answer, that is said instead.

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
