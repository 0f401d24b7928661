// `offshoot up`: its flags and help. cluster.ts runs it.
import { Command, Option } from 'commander';
import { parsePort } from '../run/addresses.ts';

export interface UpOptions {
  readonly dataDir?: string;
  readonly memory?: boolean;
  readonly fresh?: boolean;
  readonly port?: number;
  readonly kubeconfig?: string;
  readonly mergeKubeconfig?: string;
  readonly controllers: boolean;
  readonly playground: boolean;
  readonly gatewayPort?: number;
  readonly dashboard: boolean;
  readonly dashboardPort?: number;
  readonly output?: 'json';
}

/** Used if they are free, so that kubeconfigs and addresses stay valid after a restart. */
const DEFAULT_PORTS = { api: 7443, gateway: 7480, dashboard: 7444 };

export function upCommand(): Command {
  return new Command('up')
    .description('run a Kubernetes API, the controllers, a sample shop and a dashboard in this process, on loopback')
    .option('--data-dir <dir>', 'where the cluster is kept (default: the user state directory)')
    .addOption(
      new Option('--memory', 'keep the cluster in memory: it is gone when this stops').conflicts(['dataDir', 'fresh']),
    )
    .option('--fresh', 'delete the contents of the data directory and start over')
    .option(
      '--port <number>',
      `port of the API; 0 takes a free one (default: ${DEFAULT_PORTS.api}, or a free one)`,
      parsePort,
    )
    .option('--kubeconfig <file>', 'where to write the kubeconfig (default: in the data directory)')
    .addOption(
      new Option(
        '--merge-kubeconfig [context]',
        'put the cluster into your own kubeconfig too ($KUBECONFIG, or ~/.kube/config), as its current context, until this stops (default name: offshoot)',
      ).preset('offshoot'),
    )
    .option('--no-controllers', 'run only the API; "offshoot run" can then run the controllers')
    .option('--no-playground', 'do not install the sample shop; it is only installed in an empty cluster')
    .option(
      '--gateway-port <number>',
      `port of the gateway to the sample shop; 0 takes a free one (default: ${DEFAULT_PORTS.gateway}, or a free one)`,
      parsePort,
    )
    .option('--no-dashboard', 'without the dashboard')
    .option(
      '--dashboard-port <number>',
      `port of the dashboard; 0 takes a free one (default: ${DEFAULT_PORTS.dashboard}, or a free one)`,
      parsePort,
    )
    .addOption(new Option('-o, --output <format>', 'one line of JSON on standard output once ready').choices(['json']))
    .addHelpText(
      'after',
      `
Examples:
  offshoot up --merge-kubeconfig
  offshoot up --memory --kubeconfig /tmp/kc`,
    )
    .action(async (options: UpOptions) => {
      // Loaded on demand, so that other commands start without it.
      const { up } = await import('./cluster.ts');
      await up(options, DEFAULT_PORTS);
    });
}
