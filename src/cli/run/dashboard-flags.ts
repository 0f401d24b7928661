// Flags of `offshoot run` about the dashboard.
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { Address } from '../../controller/index.ts';
import { defaultAddress, parseAddress } from './addresses.ts';
import { timeFlag, toggleFlag } from './flag-kinds.ts';

export interface DashboardFlags {
  readonly dashboard: boolean;
  readonly dashboardBindAddress?: Address | 'off';
  readonly dashboardHost: readonly string[];
  readonly dashboardWrites: boolean;
  readonly dashboardCertDir?: string;
  readonly dashboardSession: number;
}

const PORT = 7444;

/** Adds `--dashboard` and the flags for its address, host names, TLS and sessions. */
export function dashboardFlags(command: Command): Command {
  return command
    .addOption(
      toggleFlag('--dashboard', false, 'serve the dashboard, for people with a token of the cluster').env('DASHBOARD'),
    )
    .addOption(
      new Option(
        '--dashboard-bind-address <address>',
        `where the dashboard is served (default: port ${PORT} of loopback, in a pod of all addresses)`,
      )
        .argParser(parseAddress)
        .env('DASHBOARD_BIND_ADDRESS'),
    )
    .addOption(
      new Option(
        '--dashboard-host <names>',
        'names that people open the dashboard by, beside those of loopback; repeatable',
      )
        .argParser(parseHosts)
        .env('DASHBOARD_HOST')
        .default([], 'none'),
    )
    .addOption(
      toggleFlag(
        '--dashboard-writes',
        false,
        'let people create and delete environments there, with their own permissions',
      ).env('DASHBOARD_WRITES'),
    )
    .addOption(
      new Option(
        '--dashboard-cert-dir <dir>',
        'serve the dashboard by TLS, with tls.crt and tls.key from here (default: HTTP, for an ingress or a port-forward)',
      ).env('DASHBOARD_CERT_DIR'),
    )
    .addOption(
      timeFlag('--dashboard-session', '8h', '1m', 'how long people stay signed in to the dashboard').env(
        'DASHBOARD_SESSION',
      ),
    );
}

/** The address of the dashboard; undefined if it is disabled. */
export function dashboardAddress({ dashboard, dashboardBindAddress }: DashboardFlags): Address | undefined {
  if (!dashboard || dashboardBindAddress === 'off') return undefined;
  return dashboardBindAddress ?? defaultAddress(PORT);
}

function parseHosts(text: string, before: readonly string[]): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  const isName = (name: string): boolean => /^[a-z\d]([a-z\d.-]*[a-z\d])?(:\d{1,5})?$/i.test(name);
  if (names.every(isName)) return [...before, ...names];
  throw new InvalidArgumentError('A host is a name without a scheme, with a port or without: offshoot.example.com.');
}
