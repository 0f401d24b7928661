// `offshoot mesh`: the commands for Istio's lifecycle, with flags and help. Their implementation is loaded on demand.
import { Command, InvalidArgumentError, Option } from 'commander';
import { EXIT_HELP, failure, PLAN_EXIT_HELP } from '../exit.ts';
import { clusterFlags, collect, filenameFlag, outputFlag, timeoutFlag, watchTreeFlag } from '../options.ts';
import { meshFlags, parseVersion } from '../run/mesh-flags.ts';
import type { MeshPlanOptions } from './plan.ts';
import type { RestartOptions } from './restart.ts';
import type { StatusOptions } from './status.ts';
import type { UpgradeOptions } from './upgrade.ts';

export function meshCommand(): Command {
  return new Command('mesh')
    .description('show the state of Istio, and plan restarts and upgrades')
    .addCommand(statusCommand())
    .addCommand(planCommand())
    .addCommand(upgradeCommand())
    .addCommand(restartCommand())
    .addHelpText('after', '\nExample:\n  offshoot mesh status');
}

function statusCommand(): Command {
  return clusterFlags(new Command('status'))
    .description('show versions, components, pending restarts, and what blocks a deletion')
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
    .description('restart workloads with outdated sidecars')
    .option('--outdated', 'those with a sidecar of another version, other resources or other settings')
    .option('--uninjected', 'also workloads that should have a sidecar but have none')
    .option('-w, --watch', 'continue batch by batch, and show progress')
    .option('--dry-run', 'only show what would be restarted, and what it waits for')
    .addOption(
      new Option('--batch-size <count>', 'how many workloads may be restarting at once').argParser(countOf).default(10),
    )
    .addOption(timeoutFlag('1h'))
    .addHelpText(
      'after',
      `
Without --watch, only the next batch is started; with it, the command fails if something is left outdated. A batch waits until the one before it is healthy;
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
    .description('show which objects would be created, changed and removed, and which workloads would restart')
    .addOption(filenameFlag('manifests of Istio resources to plan'))
    .addOption(new Option('--delete <name>', 'plan the deletion of this Istio resource; repeatable').argParser(collect))
    .addOption(outputFlag(['json', 'yaml']))
    .addHelpText(
      'after',
      `
Nothing is written. Pods are assumed to become ready. The settings must match those of the control plane.

Examples:
  offshoot mesh plan -f istio.yaml || test $? -eq 2
  offshoot mesh plan --delete default
${PLAN_EXIT_HELP}`,
    )
    .action(async (options: MeshPlanOptions) => {
      const { planMeshCommand } = await import('./plan.ts');
      await planMeshCommand(options);
    });
}

function upgradeCommand(): Command {
  return meshFlags(clusterFlags(new Command('upgrade')))
    .description('show whether the mesh can be upgraded to a version, how, and what would change')
    .addOption(new Option('--to <version>', 'the version of Istio').argParser(parseVersion).makeOptionMandatory())
    .option('--dry-run', 'only show it; controllers upgrade the mesh to the version of their release by themselves')
    .addOption(outputFlag(['json', 'yaml']))
    .addHelpText('after', `\nExample:\n  offshoot mesh upgrade --to 1.31.0 --dry-run\n${PLAN_EXIT_HELP}`)
    .action(async (options: UpgradeOptions, command: Command) => {
      const isGiven = command.getOptionValueSource('istioVersion') === 'cli';
      if (isGiven && options.istioVersion !== options.to) {
        throw failure('ConflictingFlags', '--to says which version of Istio: leave --istio-version out');
      }
      const { upgradeCommand: upgrade } = await import('./upgrade.ts');
      await upgrade(options);
    });
}
