// `offshoot run`: the controllers and the admission webhook for a cluster, until they are stopped.
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Address, Logger } from '../../controller/index.ts';
import type { Dashboard } from '../../dashboard/index.ts';
import { withFlagName, parseAddress, defaultAddress } from './addresses.ts';
import { parsedFlag, toggleFlag } from './flag-kinds.ts';
import { keepHeapSmall } from './heap.ts';
import { loggerOptions, parseBoolean, zapFlags } from './go-flags.ts';
import type { LogOptions } from './go-flags.ts';
import { isDnsLabel } from '../options.ts';
import { dashboardAddress, dashboardFlags } from './dashboard-flags.ts';
import type { DashboardFlags } from './dashboard-flags.ts';
import { environmentFlags, environmentSettings } from './environment-flags.ts';
import type { EnvironmentOptions } from './environment-flags.ts';
import { meshFlags, meshSettings } from './mesh-flags.ts';
import type { MeshOptions } from './mesh-flags.ts';
import { untilSignal } from './signals.ts';
import { routingFlags, routingSettings } from './routing-flags.ts';
import type { RoutingOptions } from './routing-flags.ts';
import { targetFlags, targetSettings, withoutOther } from './target-flags.ts';
import type { TargetOptions } from './target-flags.ts';
import type { Part } from './parts.ts';
import { webhookFlags, webhookOptions, withoutDisabledWebhook } from './webhook-flags.ts';
import type { WebhookFlags } from './webhook-flags.ts';

interface RunOptions
  extends EnvironmentOptions, TargetOptions, RoutingOptions, MeshOptions, DashboardFlags, WebhookFlags, LogOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly namespaces?: readonly string[];
  readonly controllers: readonly string[];
  readonly leaderElect: boolean;
  readonly metricsBindAddress?: Address | 'off';
  readonly healthProbeBindAddress?: Address | 'off';
  readonly installCrds?: boolean;
  readonly removeOrphans: boolean;
  readonly otlpEndpoint?: string;
}

const HELP = `
The admission webhook is registered with the cluster when this runs in a pod, or when --webhook-service or
--webhook-loopback says how the API server reaches it. Set ENABLE_WEBHOOKS=false to go without, like --no-webhook;
DISABLE_APPSTUDIO_WEBHOOK=true to go without it for claims, targets, classes and Environments.

Arguments written for Riskified's operator are understood: one dash before a long flag, and the flags --zap-….

Examples:
  offshoot run --install-crds
  offshoot run --context staging --leader-elect --default-version stable
  offshoot run --controllers targets --target-cluster-url https://api.example.com:6443
  offshoot run --dashboard --dashboard-host offshoot.example.com
  offshoot run --namespaces shop,shop-staging --leader-elect
  offshoot run --controllers mesh --namespace kyma-system --istioctl /usr/local/bin/istioctl

For a cluster on this machine, such as that of "offshoot up --no-controllers":
  offshoot run --kubeconfig /tmp/kc --webhook-loopback`;

export function runCommand(): Command {
  const command = dashboardFlags(meshFlags(routingFlags(targetFlags(zapFlags(environmentFlags(new Command('run')))))))
    .description('run the controllers for a cluster')
    .option('--kubeconfig <file>', 'the kubeconfig file (default: $KUBECONFIG, ~/.kube/config, or that of the pod)')
    .option('--context <name>', 'the kubeconfig context to use')
    .addOption(
      new Option(
        '-n, --namespace <name>',
        'where the leases and the certificate are kept (default: that of the pod or context)',
      ).env('POD_NAMESPACE'),
    )
    .addOption(
      parsedFlag(
        '--namespaces <names>',
        'manage environments in these namespaces only, with Roles there and no permissions elsewhere; serves no webhook',
        parseNamespaces,
        'NAMESPACES',
      ).conflicts(['dashboard', 'installCrds', 'webhookService', 'webhookLoopback']),
    )
    .addOption(
      parsedFlag(
        '--controllers <names>',
        'the controllers to run: environments, targets, routing, mesh',
        parseNames,
        'CONTROLLERS',
      ).default(['environments'], 'environments'),
    )
    .addOption(
      parsedFlag(
        '--leader-elect [bool]',
        'elect a leader for each part, so that only one of several processes writes',
        parseBoolean,
        'LEADER_ELECT',
      )
        .preset('true')
        .default(false),
    )
    .addOption(
      parsedFlag(
        '--metrics-bind-address <address>',
        'where /metrics is served; 0 for nowhere (default: port 8080 of loopback, in a pod of all addresses)',
        parseAddress,
        'METRICS_BIND_ADDRESS',
      ),
    )
    .addOption(
      parsedFlag(
        '--health-probe-bind-address <address>',
        'where /healthz and /readyz are served; 0 for nowhere (default: port 8081 of loopback, in a pod of all addresses)',
        parseAddress,
        'HEALTH_PROBE_BIND_ADDRESS',
      ),
    );
  return webhookFlags(command)
    .addOption(
      toggleFlag(
        '--remove-orphans',
        true,
        'remove orphans of environments whose finalizers were removed by hand, ten minutes after an Event reports them',
      ).env('REMOVE_ORPHANS'),
    )
    .option('--install-crds', 'install or update the CustomResourceDefinitions first')
    .addOption(
      parsedFlag(
        '--otlp-endpoint <url>',
        'send traces of reconciles to this OTLP/HTTP endpoint (default: none); set headers with OTEL_EXPORTER_OTLP_HEADERS',
        parseEndpoint,
        'OTEL_EXPORTER_OTLP_ENDPOINT',
      ),
    )
    .addOption(
      new Option('--log-level <level>', 'the log level (default: info)')
        .choices(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
        .env('LOG_LEVEL'),
    )
    .addOption(
      new Option('--log-format <format>', 'the log format (default: human on a terminal)')
        .choices(['json', 'human'])
        .env('LOG_FORMAT'),
    )
    .addHelpText('after', HELP)
    .action(run);
}

async function run(options: RunOptions): Promise<void> {
  // Loaded on demand, so that other commands start without it.
  const [
    { createLogger, parseHeaders },
    { inClusterConfig },
    { configFrom },
    { startControlPlane },
    { partsOf },
    crds,
    { refuseSecondWriter },
  ] = await Promise.all([
    import('../../controller/index.ts'),
    import('../../kube/index.ts'),
    import('../kubeconfig/source.ts'),
    import('./control-plane.ts'),
    import('./parts.ts'),
    import('./crds.ts'),
    import('./lease-holders.ts'),
  ]);
  keepHeapSmall();
  const parts = partsOf(options.controllers).map((part) => withoutOther(withoutDisabledWebhook(part), options));
  const { namespaces } = options;
  if (namespaces !== undefined) refuseOtherParts(parts);
  const config = configFrom({
    ...(options.kubeconfig !== undefined && { path: options.kubeconfig }),
    ...(options.context !== undefined && { context: options.context }),
  });
  const logger = createLogger(loggerOptions(options));
  const namespace = options.namespace ?? config.namespace ?? 'default';
  const webhook = webhookOptions(options, inClusterConfig() !== undefined, logger);
  const probes = options.healthProbeBindAddress ?? defaultAddress(8081);
  const metricsAddress = options.metricsBindAddress ?? defaultAddress(8080);
  const settings = { ...environmentSettings(options), removeOrphans: options.removeOrphans };
  const dashboardAt = dashboardAddress(options);
  const stopping = new AbortController();
  const signalled = untilSignal();
  void signalled.then(() => stopping.abort());
  const plane = await startControlPlane({
    config,
    parts,
    settings,
    targets: targetSettings(options),
    routing: routingSettings(options),
    mesh: meshSettings(options),
    namespace,
    ...(namespaces && { namespaces }),
    leaderElect: options.leaderElect,
    ...(probes !== 'off' && { probes }),
    ...(metricsAddress !== 'off' && { metricsAddress }),
    ...(webhook && { webhook }),
    logger,
    ...(options.otlpEndpoint !== undefined && {
      otlp: { endpoint: options.otlpEndpoint, headers: parseHeaders(process.env['OTEL_EXPORTER_OTLP_HEADERS'] ?? '') },
    }),
    ...exitAfterWrite(process.env['OFFSHOOT_EXIT_AFTER_WRITE']),
    signal: stopping.signal,
    prepare: async (client) => {
      await refuseSecondWriter(client, parts, { namespace, leaderElect: options.leaderElect, namespaces, logger });
      if (options.installCrds) await crds.installDefinitions(client, parts);
      else await crds.requireDefinitions(client, parts, { namespaces });
    },
  }).catch(async (error: unknown) => {
    if (stopping.signal.aborted) return undefined;
    const { withClusterHint } = await import('../objects/cluster-hint.ts');
    throw withFlagName(withClusterHint(error, config.server, options), {
      '--metrics-bind-address': metricsAddress,
      '--health-probe-bind-address': probes,
      '--webhook-port': webhook,
    });
  });
  if (plane === undefined) return;
  const { manager, webhookUrl } = plane;
  const dashboard = dashboardAt && (await startDashboard(dashboardAt));
  const names = parts.map(({ name }) => name);
  const { probesUrl, metricsUrl: metrics } = manager;
  logger.info(
    {
      controllers: names,
      server: config.server,
      probes: probesUrl,
      metrics,
      webhook: webhookUrl,
      dashboard: dashboard?.url,
    },
    'running',
  );
  logOtherParts(names, partsOf(), logger);
  try {
    await Promise.race([signalled, manager.done]);
    logger.info('stopping');
  } finally {
    await dashboard?.close();
    await plane.stop();
  }

  async function startDashboard(address: Address): Promise<Dashboard> {
    // Loaded on demand, so that the controllers start first.
    const { serveDashboard } = await import('./dashboard.ts');
    const { dashboardHost: hosts, dashboardWrites: writes, dashboardCertDir: certDir, dashboardSession } = options;
    const serving = { hosts, writes, ...(certDir !== undefined && { certDir }), sessionMs: dashboardSession };
    try {
      return await serveDashboard({ config, plane: plane!, namespace, address, ...serving, settings, logger });
    } catch (error) {
      await plane!.stop();
      throw withFlagName(error, { '--dashboard-bind-address': address });
    }
  }
}

/** Throws for parts other than environments: they need the whole cluster. */
function refuseOtherParts(parts: readonly Part[]): void {
  const others = parts.map(({ name }) => name).filter((name) => name !== 'environments');
  if (others.length === 0) return;
  throw new Error(
    `--namespaces is for environments: ${others.join(', ')} needs the whole cluster; run it in another process, without --namespaces`,
  );
}

/** Logs which parts are not run here, and how to run them. Another operator may manage them. */
function logOtherParts(names: readonly string[], all: readonly Part[], logger: Logger): void {
  const others = all.map(({ name }) => name).filter((name) => !names.includes(name));
  if (others.length === 0) return;
  const flag = `--controllers ${[...names, ...others].join(',')}`;
  logger.info({ others }, `these parts are not run here: ${others.join(', ')}; "${flag}" runs them too`);
}

/** For crash tests: kills the process right after its n-th write. */
function exitAfterWrite(text: string | undefined): { onWrite?: (count: number) => void } {
  if (text === undefined || text === '') return {};
  const last = Number(text);
  if (!Number.isInteger(last) || last < 1) {
    throw new Error(`OFFSHOOT_EXIT_AFTER_WRITE must be a whole number of at least 1, found "${text}"`);
  }
  return {
    onWrite: (count) => {
      if (count >= last) process.kill(process.pid, 'SIGKILL');
    },
  };
}

function parseNamespaces(text: string): readonly string[] {
  const names = parseNames(text);
  const wrong = names.find((name) => !isDnsLabel(name));
  if (wrong === undefined) return [...new Set(names)];
  throw new InvalidArgumentError(`Namespaces are names with commas between them; "${wrong}" is none.`);
}

function parseEndpoint(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('It must be the URL of a collector, such as http://collector:4318.');
}

function parseNames(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim());
}
