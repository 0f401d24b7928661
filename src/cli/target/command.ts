// `offshoot target`: the commands for targets and their classes. Their implementation is loaded on demand.
import { Command } from 'commander';
import { EXIT_HELP } from '../exit.ts';
import type { DescribeOptions } from '../objects/describe.ts';
import type { ListOptions } from '../objects/list.ts';
import { describeFlags, listFlags } from '../options.ts';

export function targetCommand(): Command {
  return new Command('target')
    .description('list and describe deployment targets')
    .addCommand(classesCommand())
    .addCommand(listCommand())
    .addCommand(describeCommand())
    .addHelpText('after', '\nExample:\n  offshoot target classes');
}

function classesCommand(): Command {
  return listFlags(new Command('classes'), { namespaced: false })
    .description('list the classes of targets that can be claimed')
    .addHelpText('after', `\nExample:\n  offshoot target classes -o wide\n${EXIT_HELP}`)
    .action(async (names: readonly string[], options: ListOptions) => {
      const { listClasses } = await import('./list.ts');
      await listClasses(names, options);
    });
}

function listCommand(): Command {
  return listFlags(new Command('list').aliases(['get', 'ls']))
    .description('list targets, their state, and their claims')
    .addHelpText('after', `\nExamples:\n  offshoot target list -A -o wide\n  offshoot target list -w\n${EXIT_HELP}`)
    .action(async (names: readonly string[], options: ListOptions) => {
      const { listTargets } = await import('./list.ts');
      await listTargets(names, options);
    });
}

function describeCommand(): Command {
  return describeFlags(new Command('describe'), 'the target')
    .description('show one target as a tree, with the reason for anything that is not ready')
    .addHelpText('after', `\nExample:\n  offshoot target describe staging-dt -n team\n${EXIT_HELP}`)
    .action(async (name: string, options: DescribeOptions) => {
      const { describeTargetCommand } = await import('./describe.ts');
      await describeTargetCommand(name, options);
    });
}
