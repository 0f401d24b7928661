// `offshoot version`: prints the version of this program, and of what runs in the cluster.
import type { Client } from '../../kube/client/client.ts';
import { isForbidden } from '../../kube/errors.ts';
import { codeOf } from '../errors/code-of.ts';
import { messageOf } from '../exit.ts';
import { Deployment, selectorText } from '../install/installed.ts';
import { listAll } from '../objects/follow.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { leaseHolders } from '../run/lease-holders.ts';
import type { LeaseHolder } from '../run/lease-holders.ts';
import { partsOf } from '../run/parts.ts';
import { painter } from '../terminal/colour.ts';
import { printResult } from '../terminal/output.ts';
import type { DataFormat } from '../terminal/output.ts';
import { TablePrinter } from '../terminal/table.ts';
import { kubernetesVersion } from './kubernetes.ts';
import { version } from './version.ts';

export interface VersionOptions extends ClusterOptions {
  readonly client?: boolean;
  readonly output?: DataFormat;
}

interface Versions {
  readonly client: { readonly version: string; readonly node: string };
  readonly server?: Server | { readonly error: { readonly code: string; readonly message: string } };
}

interface Server {
  readonly url: string;
  readonly kubernetes: string;
  /** Installations in the cluster, by the label app.kubernetes.io/version. */
  readonly installed: readonly { readonly namespace: string; readonly version: string }[];
  readonly parts: readonly ServedPart[];
}

interface ServedPart {
  readonly name: string;
  readonly running: boolean;
  /** The holder of its lease. */
  readonly holder?: string;
  readonly version?: string;
}

export async function printVersions(options: VersionOptions): Promise<void> {
  const client = { version: version(), node: process.versions.node };
  const versions: Versions = options.client ? { client } : { client, server: await serverOrError(options) };
  printResult(options.output, { data: versions, lines: () => versionLines(versions) });
}

async function serverOrError(options: VersionOptions): Promise<Versions['server']> {
  try {
    return await withConnection(options, ({ client, namespace, config }) => serverOf(client, namespace, config.server));
  } catch (error) {
    return { error: { code: codeOf(error), message: messageOf(error) } };
  }
}

async function serverOf(client: Client, namespace: string, url: string): Promise<Server> {
  const kubernetes = await kubernetesVersion(client);
  const parts = partsOf();
  const [deployments, holders] = await Promise.all([
    orNone(listAll(client, Deployment, { labelSelector: selectorText() })),
    orNone(leaseHolders(client, parts, namespace)),
  ]);
  const installed = deployments.map(({ metadata }) => ({
    namespace: metadata.namespace ?? '',
    version: metadata.labels?.['app.kubernetes.io/version'] ?? 'unknown',
  }));
  return {
    url,
    kubernetes,
    installed,
    parts: parts.map(({ name }) => servedPart(name, holders, installed)),
  };
}

function servedPart(name: string, holders: readonly LeaseHolder[], installed: Server['installed']): ServedPart {
  const held = holders.find((each) => each.part === name);
  if (held === undefined) return { name, running: false };
  // A pod has the version of its installation.
  const known = held.version ?? installed.find(({ namespace }) => namespace === held.namespace)?.version;
  return { name, running: true, holder: held.holder, ...(known !== undefined && { version: known }) };
}

/** An empty list if it is forbidden. */
async function orNone<T>(listed: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await listed;
  } catch (error) {
    if (isForbidden(error)) return [];
    throw error;
  }
}

function versionLines({ client, server }: Versions): readonly string[] {
  const paint = painter(process.stdout);
  const own = `Client      ${client.version} (Node ${client.node})`;
  if (server === undefined) return [own];
  if ('error' in server) return [own, `Server      ${paint('bad', 'not reached')}: ${server.error.message}`];
  const table = new TablePrinter<ServedPart>(
    [
      { heading: 'PART', cell: ({ name }) => name },
      { heading: 'STATE', cell: ({ running }) => (running ? 'running' : 'not running'), state: true },
      { heading: 'VERSION', cell: (part) => part.version ?? '' },
      { heading: 'BY', cell: ({ holder = '' }) => holder },
    ],
    { paint },
  );
  const installed = server.installed.map((each) => `Installed   ${each.version}, in namespace ${each.namespace}`);
  return [own, `Kubernetes  ${server.kubernetes}, at ${server.url}`, ...installed, '', ...table.lines(server.parts)];
}
