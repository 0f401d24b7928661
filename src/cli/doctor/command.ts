// `offshoot doctor`: its flags and help.
import { Command, Option } from 'commander';
import { clusterFlags, outputFlag, worldFlag } from '../options.ts';
import { environmentFlags } from '../run/environment-flags.ts';
import type { DoctorOptions } from './doctor.ts';

export function doctorCommand(): Command {
  return environmentFlags(clusterFlags(new Command('doctor')))
    .description('check what would keep environments from working here, and how to fix it')
    .addOption(
      new Option('-A, --all-namespaces', 'workloads of all namespaces, except those of the system').conflicts(
        'namespace',
      ),
    )
    .addOption(worldFlag('look at'))
    .addOption(outputFlag(['json', 'yaml']))
    .addHelpText(
      'after',
      `
For every Deployment that a Service selects, this checks whether requests to it could be routed to a clone, given the
Services, DestinationRules, VirtualServices and sidecars in the cluster. It also lists what environments left behind
that are gone. Nothing is written. The settings must match those of the control plane.

An error stops environments of a workload, or lets requests of others reach them. A warning does so for some requests.
A note is good to know.

Examples:
  offshoot doctor -n shop
  offshoot doctor -A -o json
  kustomize build . | offshoot doctor -A --world -

Exit codes:
  0    no errors; there may be warnings and notes
  1    errors, or the command failed
  130  interrupted`,
    )
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('./doctor.ts');
      await doctor(options);
    });
}
