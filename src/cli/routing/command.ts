// `offshoot routing`: the commands for routing rules with their flags and help.
import { Command, Option } from 'commander';
import { filenameFlag, outputFlag } from '../options.ts';
import type { TranslateFlags } from './translate.ts';

export function routingCommand(): Command {
  return new Command('routing')
    .description('translate mesh-neutral routing rules')
    .addCommand(translateCommand())
    .addHelpText('after', '\nExample:\n  offshoot routing translate -f rules.yaml --to appmesh-api');
}

function translateCommand(): Command {
  return new Command('translate')
    .description('print the configuration of a mesh that rules, upstreams and pods ask for; no cluster is needed')
    .addOption(filenameFlag('meshes, groups, rules, upstreams, pods and services').makeOptionMandatory())
    .addOption(
      new Option('--to <back end>', 'what to print').choices(['appmesh-api', 'appmesh-crd']).makeOptionMandatory(),
    )
    .addOption(
      new Option('--mode <mode>', 'strict drops nothing in silence; compat does what SuperGloo did, to the letter')
        .choices(['strict', 'compat'])
        .default('strict'),
    )
    .option('--no-allow-all', 'let workloads call only services with rules, not every service of the mesh')
    .addOption(outputFlag(['json', 'yaml'], 'json'))
    .addHelpText(
      'after',
      `
Rules count in the order in which they are given; the order of everything else does not matter.

Examples:
  kubectl get meshes,routingrules,upstreams,pods -A -o json | offshoot routing translate -f - --to appmesh-api
  offshoot routing translate -f rules.yaml -f cluster.yaml --to appmesh-crd -o yaml | kubectl apply -f -

Exit codes:
  0    translated; diagnostics tell of rules that are rejected
  1    the input can not be read, or a mesh is rejected`,
    )
    .action(async (flags: TranslateFlags) => {
      const { translateFiles } = await import('./translate.ts');
      translateFiles(flags);
    });
}
