// `offshoot env`: the commands for environments with their flags and help. Their implementation is loaded on demand.
import { Command, InvalidArgumentError, Option } from 'commander';
import type { CreateOptions } from './create.ts';
import type { SetImageOptions } from './set-image.ts';
import type { DeleteOptions } from './delete.ts';
import type { ExtendOptions } from './extend.ts';
import type { SleepOptions } from './sleep.ts';
import type { PlanOptions } from './plan.ts';
import { TTL_DURATION } from '../../api/dynamicenv.ts';
import { EXIT_HELP, PLAN_EXIT_HELP } from '../exit.ts';
import type { DescribeOptions } from '../objects/describe.ts';
import type { ListOptions } from '../objects/list.ts';
import { environmentFlags } from '../run/environment-flags.ts';
import {
  clusterFlags,
  collect,
  deleteFlags,
  describeFlags,
  dryRunFlag,
  filenameFlag,
  listFlags,
  noWaitFlag,
  outputFlag,
  selectorFlag,
  timeoutFlag,
  worldFlag,
} from '../options.ts';
import { validateCommand } from '../manifests/validate.ts';

export function envCommand(): Command {
  return new Command('env')
    .description('create, list, describe and delete environments')
    .addCommand(listCommand())
    .addCommand(describeCommand())
    .addCommand(createCommand())
    .addCommand(applyCommand())
    .addCommand(setImageCommand())
    .addCommand(deleteCommand())
    .addCommand(extendCommand())
    .addCommand(sleepCommand())
    .addCommand(wakeCommand())
    .addCommand(planCommand())
    .addCommand(validateManifestsCommand())
    .addHelpText(
      'after',
      '\nExample:\n  offshoot env create feature --subset cart=shop/cart:2 --header end-user=alice --wait',
    );
}

function listCommand(): Command {
  return listFlags(new Command('list').aliases(['get', 'ls']))
    .description('list environments and their state')
    .addHelpText(
      'after',
      `\nExamples:\n  offshoot env list -A\n  offshoot env list -n shop -l team=blue -w\n${EXIT_HELP}`,
    )
    .action(async (names: readonly string[], options: ListOptions) => {
      const { listEnvironments } = await import('./list.ts');
      await listEnvironments(names, options);
    });
}

function describeCommand(): Command {
  return describeFlags(new Command('describe'), 'the environment')
    .description('show one environment as a tree, with the reason for anything that is not ready')
    .addHelpText('after', `\nExample:\n  offshoot env describe feature -n shop\n${EXIT_HELP}`)
    .action(async (name: string, options: DescribeOptions) => {
      const { describeCommand: describe } = await import('./describe.ts');
      await describe(name, options);
    });
}

/** The flags that describe an environment, or its files. */
function manifestFlags(command: Command): Command {
  const deployment = '[namespace/]deployment[:container]=image';
  return clusterFlags(command)
    .argument('[NAME]', 'the environment; with -f, the files name it')
    .option(
      `--subset <${deployment}>`,
      'a Deployment to clone with this image and to route requests to; repeatable',
      collect,
    )
    .option(`--consumer <${deployment}>`, 'a Deployment to clone that receives no requests; repeatable', collect)
    .option('--key <value>', 'requests with this key, in the header x-env or as env=value in baggage')
    .option(
      '--header <condition>',
      'requests with this header: name=value, name^=prefix or name~=regex; repeatable',
      collect,
    )
    .option('--source-label <name=value>', 'requests from pods with this label; repeatable', collect)
    .option('--env <NAME=value>', 'a variable for every container that gets an image; repeatable', collect)
    .option('--replicas <number>', 'pods of each clone (default: 1)', parseReplicas)
    .addOption(
      new Option('--ttl <duration>', 'delete it after this time, such as 8h or 2d (default: never)').argParser(
        parseTtl,
      ),
    )
    .addOption(filenameFlag('manifests of environments to apply'))
    .option('--force-conflicts', 'take over fields that another program, such as kubectl, has set')
    .addOption(dryRunFlag())
    .addOption(outputFlag(['json', 'yaml', 'name']))
    .option('--wait', 'wait until it is ready, and show progress')
    .addOption(noWaitFlag())
    .addOption(timeoutFlag('2m'));
}

function createCommand(): Command {
  return manifestFlags(new Command('create'))
    .description('create an environment')
    .addHelpText(
      'after',
      `
Requests reach the environment if they carry the key, or if all --header and --source-label match.

Examples:
  offshoot env create pr-7 -n shop --subset cart=shop/cart:2 --key pr-7 --wait
  offshoot env create feature -n shop --subset cart=shop/cart:2 --header end-user=alice --wait
  offshoot env create feature --subset cart:app=shop/cart:2 --subset web/front=front:7 --env LOG=debug \\
      --header end-user^=test- --dry-run=client -o yaml > feature.yaml
  offshoot env create -f feature.yaml --wait --timeout 5m
${EXIT_HELP}`,
    )
    .action(async (name: string | undefined, options: CreateOptions) => {
      const { createEnvironments } = await import('./create.ts');
      await createEnvironments(name, options);
    });
}

function applyCommand(): Command {
  return manifestFlags(new Command('apply'))
    .description('create an environment, or update it to match the flags or files')
    .addHelpText(
      'after',
      `
The command is idempotent, so CI can run it repeatedly. Which requests reach an environment, and which containers it
overrides, can't be changed.

Examples:
  offshoot env apply pr-7 -n shop --subset cart=shop/cart:$SHA --key pr-7 --wait
  offshoot env apply -f feature.yaml
${EXIT_HELP}`,
    )
    .action(async (name: string | undefined, options: CreateOptions) => {
      const { createEnvironments } = await import('./create.ts');
      await createEnvironments(name, options, 'apply');
    });
}

function setImageCommand(): Command {
  return clusterFlags(new Command('set-image'))
    .description('set the images of containers of an environment')
    .argument('<NAME>', 'the environment')
    .argument(
      '<IMAGE...>',
      '[namespace/]deployment[:container]=image; the container may be omitted if there is only one',
    )
    .addOption(dryRunFlag())
    .addOption(outputFlag(['json', 'yaml', 'name']))
    .option('--wait', 'wait until it is ready again, and show progress')
    .addOption(noWaitFlag())
    .addOption(timeoutFlag('2m'))
    .addHelpText(
      'after',
      `\nExamples:\n  offshoot env set-image pr-7 orders=shop/orders:3 -n shop --wait\n  offshoot env set-image pr-7 orders:app=shop/orders:3 payments=shop/payments:9\n${EXIT_HELP}`,
    )
    .action(async (name: string, images: readonly string[], options: SetImageOptions) => {
      const { setImages } = await import('./set-image.ts');
      await setImages(name, images, options);
    });
}

function deleteCommand(): Command {
  return deleteFlags(new Command('delete'), 'environments', '2m')
    .description('delete environments, and wait until nothing of them is left')
    .addHelpText(
      'after',
      `\nExamples:\n  offshoot env delete feature -n shop\n  offshoot env delete -l team=blue --timeout 5m\n${EXIT_HELP}`,
    )
    .action(async (names: readonly string[], options: DeleteOptions) => {
      const { deleteEnvironments } = await import('./delete.ts');
      await deleteEnvironments(names, options);
    });
}

function extendCommand(): Command {
  return clusterFlags(new Command('extend'))
    .description('extend the time to live (spec.ttl) of environments')
    .argument('[NAME...]', 'the environments')
    .addOption(
      new Option('--by <duration>', 'how much longer, such as 90m or 2d (default: as long as its ttl)').argParser(
        parseTtl,
      ),
    )
    .addOption(filenameFlag('environments to extend'))
    .addOption(selectorFlag())
    .addOption(dryRunFlag())
    .addOption(outputFlag(['json', 'yaml', 'name']))
    .addHelpText(
      'after',
      `
The time is added to what is left. It is stored in the annotation offshoot.dev/extended-until, not in the spec, so GitOps
tools do not revert it.

Examples:
  offshoot env extend feature -n shop
  offshoot env extend -l team=blue --by 4h
${EXIT_HELP}`,
    )
    .action(async (names: readonly string[], options: ExtendOptions) => {
      const { extendEnvironments } = await import('./extend.ts');
      await extendEnvironments(names, options);
    });
}

function sleepCommand(): Command {
  return sleepFlags(new Command('sleep'), 'environments to put to sleep')
    .description('remove the routes of environments and scale their clones to zero, until they are woken')
    .option('--wait', 'wait until they have no pods')
    .addHelpText(
      'after',
      `
It sets the annotation offshoot.dev/asleep, not the spec, so GitOps tools do not revert it.

Examples:
  offshoot env sleep feature -n shop
  offshoot env sleep -l team=blue --wait
${EXIT_HELP}`,
    )
    .action(async (names: readonly string[], options: SleepOptions) => {
      const { putToSleep } = await import('./sleep.ts');
      await putToSleep(names, options);
    });
}

function wakeCommand(): Command {
  return sleepFlags(new Command('wake'), 'environments to wake')
    .description('scale the clones of sleeping environments up again, then restore their routes')
    .option('--wait', 'wait until they are ready, and show progress')
    .addHelpText('after', `\nExample:\n  offshoot env wake feature -n shop --wait\n${EXIT_HELP}`)
    .action(async (names: readonly string[], options: SleepOptions) => {
      const { wake } = await import('./sleep.ts');
      await wake(names, options);
    });
}

function sleepFlags(command: Command, what: string): Command {
  return clusterFlags(command)
    .argument('[NAME...]', 'the environments')
    .addOption(filenameFlag(what))
    .addOption(selectorFlag())
    .addOption(dryRunFlag())
    .addOption(outputFlag(['json', 'yaml', 'name']))
    .addOption(noWaitFlag())
    .addOption(timeoutFlag('2m'));
}

/** `env plan`; `plan` is an alias. */
export function planCommand(): Command {
  return environmentFlags(clusterFlags(new Command('plan')))
    .description('show what environments would change: objects, requests, and whether they would be ready')
    .argument('[NAME]', 'the environment as it is now (default: all in the namespace)')
    .addOption(filenameFlag('manifests of environments to plan'))
    .addOption(new Option('--delete <name>', 'plan the deletion of this environment; repeatable').argParser(collect))
    .addOption(worldFlag('plan on'))
    .addOption(outputFlag(['json', 'yaml']))
    .addHelpText(
      'after',
      `
Nothing is written; the writes are validated by server-side dry runs. A plan does not foresee pods that do not become
ready, nor permissions that the controllers lack. The settings must match those of the control plane.

Examples:
  offshoot plan -f feature.yaml || test $? -eq 2
  offshoot plan feature -n shop --default-version stable
  offshoot plan --delete feature -n shop
  offshoot plan -f feature.yaml --world manifests/
${PLAN_EXIT_HELP}`,
    )
    .action(async (name: string | undefined, options: PlanOptions) => {
      const { planEnvironmentsCommand } = await import('./plan.ts');
      await planEnvironmentsCommand(name, options);
    });
}

function validateManifestsCommand(): Command {
  return validateCommand({
    description: 'check manifests of environments without a cluster',
    one: 'DynamicEnv',
    checks: async () => [(await import('./check.ts')).environmentCheck],
    help: `
Examples:
  offshoot env validate -f feature.yaml
  kustomize build . | offshoot env validate -f -

What depends on a cluster is not checked: the permissions of the requester, and the names of other environments.`,
  });
}

function parseTtl(text: string): string {
  if (TTL_DURATION.test(text)) return text;
  throw new InvalidArgumentError('It must be whole days, hours, minutes and seconds, greater than zero: 2d, 1h30m.');
}

function parseReplicas(text: string): number {
  const replicas = Number(text);
  if (/^\d+$/.test(text) && replicas >= 1 && replicas <= 2_147_483_647) return replicas;
  throw new InvalidArgumentError('It must be a whole number of at least 1.');
}
