// The control plane: the manager with its controllers and optionally the admission webhook. `run` starts it for any
// cluster, `up` for the embedded one.
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
import { leasesElsewhere } from './lease-holders.ts';
import type { MeshSettings, Part, PartWebhook, RoutingSettings, TargetSettings } from './parts.ts';

export interface WebhookOptions {
  readonly port: number;
  /** How the API server reaches us: through a Service or, on this machine, over loopback. */
  readonly reach: { readonly service: string } | 'loopback';
  /** The directory of an external certificate; without it, we generate one. */
  readonly certDir?: string;
  /**
   * How long the webhook is still served after a stop is requested, until no requests are routed here: 5 s by default
   * with a Service, and 0 over loopback, where the registration is deleted first.
   */
  readonly drainMs?: number;
  /** Only fill in an existing registration, such as that of a chart; see WebhookRegistration. */
  readonly existingOnly?: boolean;
}

export interface ControlPlaneOptions {
  readonly config: ConnectConfig;
  /** The API server, if it runs in this process: requests then bypass the network. */
  readonly local?: ConnectOptions['local'];
  readonly parts: readonly Part[];
  readonly settings?: Partial<Settings>;
  readonly targets?: TargetSettings;
  readonly routing?: RoutingSettings;
  readonly mesh?: MeshSettings;
  /** Manages these namespaces only, without permissions elsewhere and without a webhook. */
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
  /** Aborts a start in progress; later, use `stop`. */
  readonly signal?: AbortSignal;
  /** Runs first, with the client of the control plane. */
  readonly prepare?: (client: Client) => Promise<void>;
}

export interface ControlPlane {
  /** The client of the control plane. */
  readonly client: Client;
  readonly manager: Manager;
  readonly webhookUrl?: string;
  /** Stops the controllers at once, and the webhook after its drain time. */
  stop(): Promise<void>;
}

const DRAIN_MS = 5_000;
const CERTIFICATE_SECRET = 'offshoot-webhook-tls';

/** Starts a control plane. Resolves when it runs; parts may still wait for leadership. */
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
  /** Cleanup functions, called in reverse order. */
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
  // Serialised: an aborted start calls this twice.
  const end = (): Promise<void> => (unwinding = unwinding.then(unwind));
  const traces =
    options.otlp &&
    exportTraces({ ...options.otlp, version: version(), instance: `${hostname()}_${process.pid}`, logger });
  if (traces) undo.push(() => traces.stop());
  const { signal } = options;
  const abortStart = (): void => void end();
  signal?.addEventListener('abort', abortStart);
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
      ...(options.leaderElect && {
        leaderElection: { namespace, leasesElsewhere: othersOf(parts, client, namespace) },
      }),
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
    // Errors of an aborted start are caused by the signal.
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', abortStart);
  }
}

/** The leases of others that run the part of a lease, so that only this part waits for them. */
function othersOf(
  parts: readonly Part[],
  client: Client,
  namespace: string,
): NonNullable<NonNullable<ManagerOptions['leaderElection']>['leasesElsewhere']> {
  const asking = client.flow('lease');
  return async (lease, signal) => {
    const part = parts.find((each) => each.lease === lease);
    return part === undefined ? [] : leasesElsewhere(asking, part, namespace, signal);
  };
}

/** Keeps status fields of our kinds that a newer version wrote. */
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

/** Serves the webhooks, then registers them with the API server. */
async function startWebhooks(options: StartWebhooks): Promise<WebhookServer> {
  const { webhooks, settings, namespace, client, manager, logger, metrics, reach, port, existingOnly, undo } = options;
  const certificates = certificatesOf(options);
  undo.push(() => certificates.stop());
  await certificates.start();
  const server = await serveWebhooks({
    // The API server runs on another machine, unless it is reached over loopback.
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
    // Over loopback there is no other replica: a remaining registration would reject every write.
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
