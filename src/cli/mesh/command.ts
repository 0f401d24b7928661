// `offshoot mesh`: the commands for Istio's own life, with their flags and help. What they do is loaded when it is needed.
import { Command, InvalidArgumentError, Option } from 'commander';
import { EXIT_HELP, failure } from '../exit.ts';
import { clusterFlags, collect, filenameFlag, outputFlag, timeoutFlag, watchTreeFlag } from '../options.ts';
import { meshFlags, parseVersion } from '../run/mesh-flags.ts';
import type { MeshPlanOptions } from './plan.ts';
import type { RestartOptions } from './restart.ts';
import type { StatusOptions } from './status.ts';
import type { UpgradeOptions } from './upgrade.ts';

export function meshCommand(): Command {
  return new Command('mesh')
    .description('the life of Istio: what is installed, and what would change')
    .addCommand(statusCommand())
    .addCommand(planCommand())
    .addCommand(upgradeCommand())
    .addCommand(restartCommand())
    .addHelpText('after', '\nExample:\n  offshoot mesh status');
}

function statusCommand(): Command {
  return clusterFlags(new Command('status'))
    .description('show versions, components, restarts that are to be done, and what blocks a deletion')
    .addOption(outputFlag(['table', 'wide', 'json', 'yaml', 'name'], 'table'))
    .addOption(watchTreeFlag())
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

function restartCommand(): Command {
  return clusterFlags(new Command('restart'))
    .description('restart workloads whose sidecars are not what they should be')
    .option('--outdated', 'those with a sidecar of another version, other resources or other settings')
    .option('--uninjected', 'also those that should have a sidecar and have none')
    .option('-w, --watch', 'go on, batch after batch, and show how far it is')
    .option('--dry-run', 'only show what would be restarted, and what waits for what')
    .addOption(
      new Option('--batch-size <count>', 'how many workloads may be restarting at once').argParser(countOf).default(10),
    )
    .addOption(timeoutFlag('1h'))
    .addHelpText(
      'after',
      `
Without --watch the next batch is begun, and no more; with it the command fails if something is left outdated. A batch waits until the one before it is healthy;
PodDisruptionBudgets, maintenance windows and exclusions of workloads are respected.

Examples:
  offshoot mesh restart --outdated --dry-run
  offshoot mesh restart --outdated --watch
${EXIT_HELP}`,
    )
    .action(async (options: RestartOptions) => {
      const { meshRestartCommand } = await import('./restart.ts');
      await meshRestartCommand(options);
    });
}

function countOf(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('It must be a whole number of at least 1.');
}

function planCommand(): Command {
  return meshFlags(clusterFlags(new Command('plan')))
    .description('show which objects would be made, changed and removed, and which workloads would restart')
    .addOption(filenameFlag('Istio resources as they would be'))
    .addOption(
      new Option('--delete <name>', 'were this Istio resource deleted; may be given several times').argParser(collect),
    )
    .addOption(outputFlag(['json', 'yaml']))
    .addHelpText(
      'after',
      `
Nothing is written. Pods are assumed to become ready. The settings must be those that the control plane runs with.

Examples:
  offshoot mesh plan -f istio.yaml || test $? -eq 2
  offshoot mesh plan --delete default
${EXIT_HELP}`,
    )
    .action(async (options: MeshPlanOptions) => {
      const { planMeshCommand } = await import('./plan.ts');
      await planMeshCommand(options);
    });
}

function upgradeCommand(): Command {
  return meshFlags(clusterFlags(new Command('upgrade')))
    .description('show whether the mesh could be upgraded to a version, what would bring it, and what that would do')
    .addOption(new Option('--to <version>', 'the version of Istio').argParser(parseVersion).makeOptionMandatory())
    .option('--dry-run', 'only show it; controllers upgrade the mesh to the version of their release by themselves')
    .addOption(outputFlag(['json', 'yaml']))
    .addHelpText('after', `\nExample:\n  offshoot mesh upgrade --to 1.31.0 --dry-run\n${EXIT_HELP}`)
    .action(async (options: UpgradeOptions, command: Command) => {
      const isGiven = command.getOptionValueSource('istioVersion') === 'cli';
      if (isGiven && options.istioVersion !== options.to) {
        throw failure('ConflictingFlags', '--to says which version of Istio: leave --istio-version out');
      }
      const { upgradeCommand: upgrade } = await import('./upgrade.ts');
      await upgrade(options);
    });
}
