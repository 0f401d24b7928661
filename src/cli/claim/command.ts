// `offshoot claim`: the commands for claims with their flags and help. Their implementation is loaded on demand.
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ClaimCreateOptions } from './create.ts';
import type { ClaimPlanOptions } from './plan.ts';
import type { ClaimDeleteOptions } from './delete.ts';
import { EXIT_HELP, PLAN_EXIT_HELP } from '../exit.ts';
import type { DescribeOptions } from '../objects/describe.ts';
import type { ListOptions } from '../objects/list.ts';
import {
  clusterFlags,
  collect,
  deleteFlags,
  describeFlags,
  dryRunFlag,
  durationFlag,
  filenameFlag,
  listFlags,
  noWaitFlag,
  outputFlag,
  parseLabels,
  parseNamespace,
  timeoutFlag,
} from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { validateCommand } from '../manifests/validate.ts';
import { targetFlags } from '../run/target-flags.ts';

export function claimCommand(): Command {
  return new Command('claim')
    .description('claim deployment targets, and release them')
    .addCommand(planCommand())
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(describeCommand())
    .addCommand(kubeconfigCommand())
    .addCommand(deleteCommand())
    .addCommand(validateManifestsCommand())
    .addHelpText(
      'after',
      `
Example:
  offshoot claim create staging --class sandbox --ttl 2d --wait
  offshoot claim kubeconfig staging > kubeconfig`,
    );
}

function createCommand(): Command {
  return clusterFlags(new Command('create'))
    .description('claim a deployment target')
    .argument('<NAME>', 'the claim')
    .option('--class <name>', 'the class of the target; "" for targets created by hand (default: that of --target)')
    .option('--target <name>', 'claim this target (default: any that is free, or a new one)')
    .option(
      '--requested-namespace <name>',
      'the name of the namespace; spaces add their own name as a prefix',
      parseNamespace,
    )
    .option('--selector <labels>', 'labels that a free target must have, such as tier=web', parseLabels)
    .option('--ttl <duration>', 'delete it this long after it is bound, such as 90m or 2d', parseTtl)
    .addOption(dryRunFlag())
    .addOption(outputFlag(['json', 'yaml', 'name']))
    .option('--wait', 'wait until it is bound, and show progress')
    .addOption(noWaitFlag())
    .addOption(timeoutFlag('5m'))
    .addHelpText(
      'after',
      `
"offshoot target classes" lists the available classes.

Examples:
  offshoot claim create staging -n team --class sandbox --ttl 2d --wait
  offshoot claim create prod --target our-cluster --wait
  offshoot claim create staging --class sandbox --dry-run=client -o yaml > claim.yaml
${EXIT_HELP}`,
    )
    .action(async (name: string, options: ClaimCreateOptions) => {
      const { createClaim } = await import('./create.ts');
      await createClaim(name, options);
    });
}

function planCommand(): Command {
  const command = clusterFlags(new Command('plan'))
    .description('show what would be created, changed and removed for claims, and whether they would be bound')
    .argument('[NAME]', 'the claim as it is now (default: all in the namespace)')
    .addOption(filenameFlag('manifests of claims, targets, classes and Environments to plan'))
    .addOption(new Option('--delete <name>', 'plan the deletion of this claim; repeatable').argParser(collect))
    .addOption(outputFlag(['json', 'yaml']))
    .addHelpText(
      'after',
      `
Nothing is written. Names that the cluster generates are shown as "…". The settings of claims and spaces
must match those of the control plane.

Examples:
  offshoot claim plan -f claim.yaml
  offshoot claim plan staging -n team
  offshoot claim plan --delete staging -n team
${PLAN_EXIT_HELP}`,
    )
    .action(async (name: string | undefined, options: ClaimPlanOptions) => {
      const { planClaimsCommand } = await import('./plan.ts');
      await planClaimsCommand(name, options);
    });
  return targetFlags(command);
}

function listCommand(): Command {
  return listFlags(new Command('list').aliases(['get', 'ls']))
    .description('list claims and their state')
    .addHelpText(
      'after',
      `\nExamples:\n  offshoot claim list -A -o wide\n  offshoot claim list -n team -w\n${EXIT_HELP}`,
    )
    .action(async (names: readonly string[], options: ListOptions) => {
      const { listClaims } = await import('./list.ts');
      await listClaims(names, options);
    });
}

function describeCommand(): Command {
  return describeFlags(new Command('describe'), 'the claim')
    .description('show one claim as a tree, with the reason for anything that is not ready')
    .addHelpText('after', `\nExample:\n  offshoot claim describe staging -n team\n${EXIT_HELP}`)
    .action(async (name: string, options: DescribeOptions) => {
      const { describeClaimCommand } = await import('./describe.ts');
      await describeClaimCommand(name, options);
    });
}

function kubeconfigCommand(): Command {
  return clusterFlags(new Command('kubeconfig'))
    .description('print a kubeconfig for the target of a claim')
    .argument('<NAME>', 'the claim')
    .addHelpText(
      'after',
      `
Example:
  offshoot claim kubeconfig staging > kubeconfig && kubectl --kubeconfig kubeconfig get pods
${EXIT_HELP}`,
    )
    .action(async (name: string, options: ClusterOptions) => {
      const { printKubeconfig } = await import('./kubeconfig.ts');
      await printKubeconfig(name, options);
    });
}

function deleteCommand(): Command {
  return deleteFlags(new Command('delete'), 'claims', '5m')
    .description('delete claims, and wait until everything that their class does not retain is gone')
    .addHelpText(
      'after',
      `\nExamples:\n  offshoot claim delete staging -n team\n  offshoot claim delete -l team=blue --timeout 10m\n${EXIT_HELP}`,
    )
    .action(async (names: readonly string[], options: ClaimDeleteOptions) => {
      const { deleteClaims } = await import('./delete.ts');
      await deleteClaims(names, options);
    });
}

function validateManifestsCommand(): Command {
  return validateCommand({
    description: 'check manifests of claims, targets, classes and Environments without a cluster',
    one: 'claim, target, class or Environment',
    checks: async () => (await import('./checks.ts')).claimChecks,
    help: `
Examples:
  offshoot claim validate -f claim.yaml -f classes/
  kustomize build . | offshoot claim validate -f -

Warnings are about what would be admitted but can't work. Whether a class or target exists is not checked.`,
  });
}

/** Checks the duration, and returns it unchanged. */
function parseTtl(text: string): string {
  if (durationFlag(text) > 0) return text;
  throw new InvalidArgumentError('It must be greater than zero, such as 90m or 2d.');
}
