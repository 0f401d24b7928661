// `offshoot install` and `offshoot uninstall`: their flags and help.
import { Command, Option } from 'commander';
import { EXIT_HELP } from '../exit.ts';
import { clusterFlags, collect, timeoutFlag } from '../options.ts';
import type { InstallOptions } from './install.ts';
import type { UninstallOptions } from './uninstall.ts';

const NAMESPACE = 'offshoot-system';

export function installCommand(): Command {
  return clusterFlags(new Command('install'), NAMESPACE)
    .description('install or upgrade the control plane in a cluster, without Helm')
    .addOption(
      new Option('--set <name=value>', 'a value of the chart, such as parts.targets=true; repeatable')
        .argParser(collect)
        .default([], 'none'),
    )
    .option('-f, --values <file>', 'a YAML file with values of the chart')
    .option('--dry-run', 'print the manifests instead of applying them')
    .addHelpText(
      'after',
      `
The objects are those of the Helm chart in deploy/chart, and so are the values. Objects of an
earlier installation that are no longer needed are removed, except for definitions.

Examples:
  offshoot install --set image.repository=registry.example.com/offshoot
  offshoot install -f values.yaml --set parts.targets=true
  offshoot install --dry-run | kubectl diff -f -
${EXIT_HELP}`,
    )
    .action(async ({ namespace = NAMESPACE, ...options }: Partial<InstallOptions>) => {
      const { install } = await import('./install.ts');
      await install({ set: [], ...options, namespace });
    });
}

export function uninstallCommand(): Command {
  return clusterFlags(new Command('uninstall'), NAMESPACE)
    .description('uninstall what "offshoot install" installed')
    .addOption(
      new Option('--delete-resources', 'first delete all environments, claims, meshes and rules, with what they made')
        .conflicts('keepResources')
        .default(false),
    )
    .option('--keep-resources', 'keep them and their definitions, without any controller', false)
    .addOption(timeoutFlag('5m'))
    .addHelpText(
      'after',
      `
Refused while there are environments, claims, an Istio resource or other objects of our kinds, unless one of
the two flags says what to do with them. Definitions and a namespace that were there before the installation stay.

Examples:
  offshoot uninstall
  offshoot uninstall --delete-resources --timeout 10m
${EXIT_HELP}`,
    )
    .action(
      async ({ namespace = NAMESPACE, ...options }: Omit<UninstallOptions, 'namespace'> & { namespace?: string }) => {
        const { uninstall } = await import('./uninstall.ts');
        await uninstall({ ...options, namespace });
      },
    );
}
