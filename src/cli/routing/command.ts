// `offshoot routing`: the commands for routing rules with their flags and help.
import { Command, Option } from 'commander';
import { EXIT_HELP } from '../exit.ts';
import type { DescribeOptions } from '../objects/describe.ts';
import type { ListOptions } from '../objects/list.ts';
import { describeFlags, filenameFlag, listFlags, outputFlag } from '../options.ts';
import type { TranslateFlags } from './translate.ts';

export function routingCommand(): Command {
  return new Command('routing')
    .description('list, describe and translate mesh-neutral routing rules')
    .addCommand(listCommand())
    .addCommand(describeCommand())
    .addCommand(translateCommand())
    .addHelpText('after', '\nExample:\n  offshoot routing describe cart -n shop');
}

function listCommand(): Command {
  return listFlags(new Command('list').aliases(['get', 'ls']))
    .description('list routing rules and their state')
    .addHelpText(
      'after',
      `\nExamples:\n  offshoot routing list -A -o wide\n  offshoot routing list -n shop -w\n${EXIT_HELP}`,
    )
    .action(async (names: readonly string[], options: ListOptions) => {
      const { listRules } = await import('./list.ts');
      await listRules(names, options);
    });
}

function describeCommand(): Command {
  return describeFlags(new Command('describe'), 'the routing rule')
    .description('show the meshes, hosts, routes and virtual nodes of a routing rule, and why it is not in effect')
    .addHelpText('after', `\nExample:\n  offshoot routing describe cart -n shop\n${EXIT_HELP}`)
    .action(async (name: string, options: DescribeOptions) => {
      const { describeRuleCommand } = await import('./describe.ts');
      await describeRuleCommand(name, options);
    });
}

function translateCommand(): Command {
  return new Command('translate')
    .description('print the mesh configuration for rules, upstreams and pods; no cluster is needed')
    .addOption(filenameFlag('meshes, groups, rules, upstreams, pods and services').makeOptionMandatory())
    .addOption(
      new Option('--to <back end>', 'what to print').choices(['appmesh-api', 'appmesh-crd']).makeOptionMandatory(),
    )
    .addOption(
      new Option('--mode <mode>', 'strict never drops anything silently; compat does exactly what SuperGloo did')
        .choices(['strict', 'compat'])
        .default('strict'),
    )
    .option('--no-allow-all', 'let workloads call only services with rules, not every service of the mesh')
    .option('--fail-on-errors', 'exit with code 1 if any diagnostic is an error, such as a rejected rule')
    .addOption(outputFlag(['json', 'yaml'], 'json'))
    .addHelpText(
      'after',
      `
Rules apply in the given order; the order of everything else does not matter.

Examples:
  kubectl get meshes.supergloo.solo.io,routingrules,upstreams,pods -A -o json | offshoot routing translate -f - --to appmesh-api
  offshoot routing translate -f rules.yaml -f cluster.yaml --to appmesh-crd -o yaml | kubectl apply -f -

Exit codes:
  0    translated; diagnostics report rejected rules
  1    the input is invalid, or a mesh or all of its rules are rejected; with --fail-on-errors, any error`,
    )
    .action(async (flags: TranslateFlags) => {
      const { translateFiles } = await import('./translate.ts');
      translateFiles(flags);
    });
}
