// A running control plane: the manager with its controllers and, where wanted, the admission webhook. `run` starts it for
// any cluster, `up` for the embedded one.
import { hostname } from 'node:os';
import {
  CertificateFiles,
  createLogger,
  createMetrics,
  exportTraces,
  ManagedCertificates,
  Manager,
  serveWebhooks,
  WebhookRegistration,
} from '../../controller/index.ts';
import type {
  Certificates,
  ControllerDefinition,
  Logger,
  ManagerOptions,
  Metrics,
  OtlpOptions,
  WebhookAddress,
  WebhookServer,
} from '../../controller/index.ts';
import { keepUnknownStatus } from '../../api/unknown-fields.ts';
import type { Settings } from '../../environments/index.ts';
import { connect, delay, Reachability, systemClock } from '../../kube/index.ts';
import type { AnyKind, Client, ConnectConfig, ConnectOptions } from '../../kube/index.ts';
import { version } from '../version/version.ts';
import type { MeshSettings, Part, PartWebhook, RoutingSettings, TargetSettings } from './parts.ts';

export interface WebhookOptions {
  readonly port: number;
  /** How the API server reaches us: by a service, or, on this machine, over loopback. */
  readonly reach: { readonly service: string } | 'loopback';
  /** Where somebody else puts the certificate; without it, we make our own. */
  readonly certDir?: string;
  /**
   * How long it is served after a stop was asked for, until nobody is led here any more: by default 5 s by a service,
   * and not at all over loopback, where its registration goes first.
   */
  readonly drainMs?: number;
  /** Leaves it to somebody else to make the registration, such as a chart; see WebhookRegistration. */
  readonly existingOnly?: boolean;
}

export interface ControlPlaneOptions {
  readonly config: ConnectConfig;
  /** The API server, where it is in this process: then nothing goes over the network. */
  readonly local?: ConnectOptions['local'];
  readonly parts: readonly Part[];
  readonly settings?: Partial<Settings>;
  readonly targets?: TargetSettings;
  readonly routing?: RoutingSettings;
  readonly mesh?: MeshSettings;
  /** Looks after these namespaces alone, with no rights elsewhere; without a webhook. */
  readonly namespaces?: readonly string[];
  /** Where the leases and the webhook's certificate are kept. */
  readonly namespace: string;
  readonly leaderElect?: boolean;
  readonly probes?: ManagerOptions['probes'];
  readonly metricsAddress?: ManagerOptions['metricsAddress'];
  readonly webhook?: WebhookOptions;
  readonly logger?: Logger;
  /** Where traces of reconciles are sent. */
  readonly otlp?: Pick<OtlpOptions, 'endpoint' | 'headers'>;
  readonly onWrite?: (count: number) => void;
  /** Gives up on a start that is under way; later, `stop` ends it. */
  readonly signal?: AbortSignal;
  /** Runs before anything else with the client that all of it uses. */
  readonly prepare?: (client: Client) => Promise<void>;
}

export interface ControlPlane {
  /** The one that all of it uses. */
  readonly client: Client;
  readonly manager: Manager;
  readonly webhookUrl?: string;
  /** Ends the controllers at once, and the webhook when nobody is led here any more. */
  stop(): Promise<void>;
}

const DRAIN_MS = 5_000;
const CERTIFICATE_SECRET = 'offshoot-webhook-tls';

/** Starts a control plane. Resolves when it works, but for parts that wait for another process to leave the lead. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const {
    config,
    parts,
    settings: given = {},
    targets = {},
    routing = {},
    mesh = {},
    namespace,
    namespaces,
    probes,
    metricsAddress,
    onWrite,
    webhook,
  } = options;
  const settings = { ...given, ...(namespaces && { namespaces }) };
  const drainMs = webhook?.drainMs ?? (webhook?.reach === 'loopback' ? 0 : DRAIN_MS);
  const logger = options.logger ?? createLogger();
  const metrics = createMetrics({ version: version() });
  const reachability = new Reachability();
  const client = connect(config, {
    onRequest: (report) => {
      metrics.request(report);
      reachability.report(report.code);
    },
    ...(options.local && { local: options.local }),
  });
  /** What was started, undone last in, first out. */
  const undo: (() => Promise<void> | void)[] = [() => client.close()];
  const unwind = async (): Promise<void> => {
    for (let next = undo.pop(); next !== undefined; next = undo.pop()) {
      try {
        await next();
      } catch (err) {
        logger.warn({ err }, 'an error occurred while stopping, continuing with the rest');
      }
    }
  };
  let unwinding = Promise.resolve();
  // One at a time: the end of a start that was given up has two sides.
  const end = (): Promise<void> => (unwinding = unwinding.then(unwind));
  const traces =
    options.otlp &&
    exportTraces({ ...options.otlp, version: version(), instance: `${hostname()}_${process.pid}`, logger });
  if (traces) undo.push(() => traces.stop());
  const { signal } = options;
  const giveUp = (): void => void end();
  signal?.addEventListener('abort', giveUp);
  try {
    await options.prepare?.(client);
    const manager = new Manager({
      client,
      controllers: parts.flatMap((part) => {
        const definitions = part.controllers({ settings, targets, routing, mesh, config, namespace });
        return definitions.map((definition) => ({
          ...definition,
          lease: part.lease,
          ...keepsStatus(part, definition),
        }));
      }),
      logger,
      metrics,
      ...(namespaces && { namespaces }),
      reachability,
      ...(traces && { tracer: traces.tracer }),
      ...(options.leaderElect && { leaderElection: { namespace } }),
      ...(probes && { probes }),
      ...(metricsAddress && { metricsAddress }),
      ...(onWrite && { onWrite }),
    });
    const webhooks = parts.flatMap((part) => part.webhook ?? []);
    const started =
      webhook && webhooks.length > 0
        ? await startWebhooks({ ...webhook, webhooks, settings, namespace, client, manager, logger, metrics, undo })
        : undefined;
    undo.push(() => manager.stop());
    await manager.start();
    signal?.throwIfAborted();
    const stop = async (): Promise<void> => {
      started?.drain();
      await Promise.all([manager.standDown(), started && delay(systemClock, drainMs)]);
      await end();
    };
    return { client, manager, ...(started && { webhookUrl: started.url }), stop };
  } catch (error) {
    await end();
    // What was cut off failed in some way or other: the signal is the reason.
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}

/** In the status of a kind of ours, what a newer version wrote stays. */
function keepsStatus({ resources }: Part, { kind }: ControllerDefinition): Pick<ControllerDefinition, 'keepStatus'> {
  const resource = resources.find((each) => sameKind(each.kind, kind));
  return resource === undefined ? {} : { keepStatus: keepUnknownStatus(resource) };
}

function sameKind(a: AnyKind, b: AnyKind): boolean {
  return a.group === b.group && a.plural === b.plural;
}

interface StartWebhooks extends WebhookOptions {
  readonly webhooks: readonly PartWebhook[];
  readonly settings: Partial<Settings>;
  readonly namespace: string;
  readonly client: Client;
  readonly manager: Manager;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly undo: (() => Promise<void> | void)[];
}

/** Serves the webhooks, then tells the API server of them. */
async function startWebhooks(options: StartWebhooks): Promise<WebhookServer> {
  const { webhooks, settings, namespace, client, manager, logger, metrics, reach, port, existingOnly, undo } = options;
  const certificates = certificatesOf(options);
  undo.push(() => certificates.stop());
  await certificates.start();
  const server = await serveWebhooks({
    // The API server comes from elsewhere, unless it is on this machine.
    host: reach === 'loopback' ? '127.0.0.1' : '',
    port,
    handlers: Object.fromEntries(
      webhooks.flatMap((webhook) =>
        webhook.paths.map((path) => [path, webhook.handler(client, manager.tables, { settings })]),
      ),
    ),
    certificates,
    metrics,
    logger,
  });
  undo.push(() => server.close());
  const address: WebhookAddress =
    reach === 'loopback' ? { url: server.url } : { service: { namespace, name: reach.service } };
  const registrations = webhooks.map((webhook) => {
    const registration = new WebhookRegistration({
      client,
      clock: systemClock,
      logger,
      certificates,
      configuration: (bundle) => webhook.configuration(address, bundle),
      ...(existingOnly && { existingOnly }),
    });
    // Over loopback nobody else answers for us: left behind, the registration would refuse every write.
    undo.push(() => registration.stop({ remove: reach === 'loopback' }));
    return registration.start();
  });
  await Promise.all(registrations);
  return server;
}

function certificatesOf({ certDir, client, logger, namespace, reach }: StartWebhooks): Certificates {
  if (certDir !== undefined) return new CertificateFiles({ directory: certDir, logger });
  const service = reach === 'loopback' ? [] : serviceHosts(reach.service, namespace);
  const hosts = [...service, 'localhost', '127.0.0.1'];
  return new ManagedCertificates({ client, clock: systemClock, logger, namespace, name: CERTIFICATE_SECRET, hosts });
}

function serviceHosts(name: string, namespace: string): string[] {
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
}
