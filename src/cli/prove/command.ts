// `offshoot prove`: its flags and help.
import { Command, Option } from 'commander';
import { clusterFlags, outputFlag, worldFlag } from '../options.ts';
import { environmentFlags } from '../run/environment-flags.ts';
import type { ProveOptions } from './prove.ts';

export function proveCommand(): Command {
  return environmentFlags(clusterFlags(new Command('prove')))
    .description('prove that environments affect no other requests, or show one that they do')
    .argument('[ENV]', 'the environment: NAME or NAMESPACE/NAME (default: all of the namespace)')
    .addOption(new Option('-A, --all-namespaces', 'environments of all namespaces').conflicts('namespace'))
    .addOption(worldFlag('prove by'))
    .addOption(outputFlag(['json', 'yaml']))
    .addHelpText(
      'after',
      `
The mesh is compared with the same mesh without the routes, rules and pods of an environment, for all requests at once. An environment is isolated if every request without its key goes where it would go without it, and every one
with its key gets the same from its version. If it is not, a request is shown for which that does not hold, with the
command that explains it. If this can't be determined, the result is unknown. Nothing is sent, and nothing is written. The settings must
be those that the control plane runs with.

Examples:
  offshoot prove pr-7 -n shop
  offshoot prove -A
  offshoot prove -A -o json
  kubectl get dynamicenvs,deployments,services,virtualservices,destinationrules -A -o yaml | offshoot prove -A --world -

Exit codes:
  0    no environment is known to change requests of others
  1    one is, or the command failed
  130  interrupted`,
    )
    .action(async (name: string | undefined, options: ProveOptions) => {
      const { proveEnvironments } = await import('./prove.ts');
      await proveEnvironments(name, options);
    });
}
