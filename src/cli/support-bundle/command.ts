// `offshoot support-bundle`: its flags and help.
import { Command } from 'commander';
import { EXIT_HELP } from '../exit.ts';
import { clusterFlags } from '../options.ts';
import type { BundleOptions } from './bundle.ts';

export function supportBundleCommand(): Command {
  return clusterFlags(new Command('support-bundle'), 'all of them')
    .description('collect objects, Events, logs and metrics for troubleshooting into one file')
    .option('--file <file>', 'the file to write; - for standard output (default: offshoot-support-TIME.tar.gz)')
    .addHelpText(
      'after',
      `
It contains the objects that Offshoot manages and runs as, VirtualServices and DestinationRules, Events about them,
 logs and metrics of its pods, and the output of "offshoot status". With -n, objects of that namespace alone,
and all of Offshoot itself. manifest.json lists what is inside, and what could not be read and why.

Secrets are never read. Values of environment variables that look like a secret by their name or by themselves are
replaced by <redacted>, and so are tokens in logs. Review it before you share it.

Examples:
  offshoot support-bundle
  offshoot support-bundle -n shop --file - | tar tz
${EXIT_HELP}`,
    )
    .action(async (options: BundleOptions) => {
      const { supportBundle } = await import('./bundle.ts');
      await supportBundle(options);
    });
}
