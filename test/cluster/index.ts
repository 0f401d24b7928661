// The cluster fixture: a suite written with `describeClusters` runs on every cluster that this machine can offer.
//   KUBECONFIG_TEST=FILE           run on that cluster instead
//   OFFSHOOT_REAL_CLUSTER=require  a missing real cluster is a failure, not a skip
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { startEmbedded } from '../../src/embedded/index.ts';
import type { Client } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import { loadConfig } from '../../src/kube/kubeconfig.ts';
import { defineKind } from '../../src/kube/objects.ts';
import { until } from '../support/until.ts';
import { kubernetes } from '../programs/kubernetes.ts';
import { findPrograms } from '../programs/programs.ts';
import { sharedRealCluster } from './shared.ts';

export interface Cluster {
  readonly name: 'embedded' | 'real' | 'external';
  readonly kubeconfigPath: string;
  /** The administrator's client. */
  client(): Client;
  /** Makes a namespace of its own for a test, so that suites can share a cluster; it goes when the suite ends. */
  namespace(prefix?: string): Promise<string>;
  stop(): Promise<void>;
}

/** One kind of cluster. */
interface Driver {
  readonly name: Cluster['name'];
  /** One line that says why this cluster cannot be had here. */
  missing(): string | undefined;
  start(): Promise<{ readonly kubeconfigPath: string; stop(): Promise<void> }>;
}

const embedded: Driver = {
  name: 'embedded',
  missing: () => undefined,
  async start() {
    // Starts in a moment, so every suite gets one of its own.
    const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-embedded-'));
    const kubeconfigPath = path.join(dir, 'kubeconfig');
    const server = await startEmbedded();
    writeFileSync(kubeconfigPath, server.kubeconfig(), { mode: 0o600 });
    return {
      kubeconfigPath,
      async stop() {
        await server.stop();
        rmSync(dir, { recursive: true, force: true });
      },
    };
  },
};

const real: Driver = {
  name: 'real',
  missing() {
    const found = findPrograms(kubernetes);
    return 'missing' in found ? found.missing : undefined;
  },
  async start() {
    // Shared by all suites of the run; it ends with the process.
    return { ...(await sharedRealCluster()), stop: async () => undefined };
  },
};

function external(kubeconfigPath: string): Driver {
  return {
    name: 'external',
    missing: () => undefined,
    start: async () => ({ kubeconfigPath, stop: async () => undefined }),
  };
}

/** The clusters to test on. */
function clusters(env: NodeJS.ProcessEnv = process.env): readonly Driver[] {
  const given = env['KUBECONFIG_TEST'];
  return given ? [external(given)] : [embedded, real];
}

/** Runs a suite on every cluster. The suite may use its cluster inside of tests and hooks only: not while it is described. */
export function describeClusters(name: string, define: (cluster: Cluster) => void): void {
  for (const driver of clusters()) {
    describeOn(driver, name, () => {
      let started: Started | undefined;
      beforeAll(async () => {
        started = await start(driver);
      });
      afterAll(async () => {
        await started?.stop();
      });
      define(handle(driver, () => started ?? fail('no cluster here: use it inside of tests and hooks only')));
    });
  }
}

/** A suite that starts real clusters of its own, because it stops them or freezes them. */
export function describeReal(name: string, define: () => void): void {
  describeOn(real, name, define);
}

/** Reasons that this worker has printed. */
const told = new Set<string>();

/** Where the cluster cannot be had, the suite counts as skipped, and its title and one line of the output say why. */
function describeOn(driver: Driver, name: string, define: () => void): void {
  const reason = driver.missing();
  if (reason !== undefined) {
    if (process.env['OFFSHOOT_REAL_CLUSTER'] === 'require') fail(reason);
    if (!told.has(reason)) process.stderr.write(`${driver.name} cluster skipped: ${reason}\n`);
    told.add(reason);
  }
  const why = reason === undefined ? '' : ` skipped: ${reason}`;
  describe.skipIf(reason !== undefined)(`${name} (${driver.name})${why}`, () => {
    define();
  });
}

function fail(reason: string): never {
  throw new Error(reason);
}

interface Started {
  readonly kubeconfigPath: string;
  readonly client: Client;
  readonly namespaces: string[];
  stop(): Promise<void>;
}

async function start(driver: Driver): Promise<Started> {
  const running = await driver.start();
  const { kubeconfigPath } = running;
  const client = connect(loadConfig({ path: kubeconfigPath }));
  const namespaces: string[] = [];
  return {
    kubeconfigPath,
    client,
    namespaces,
    async stop() {
      await Promise.all(namespaces.map((name) => client.delete(namespaceKind, { name })));
      client.close();
      await running.stop();
    },
  };
}

async function exists(read: Promise<unknown>): Promise<boolean> {
  try {
    await read;
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

const serviceAccountKind = defineKind('v1', 'ServiceAccount', 'serviceaccounts');
const namespaceKind = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });

function handle(driver: Driver, started: () => Started): Cluster {
  return {
    name: driver.name,
    get kubeconfigPath() {
      return started().kubeconfigPath;
    },
    client: () => started().client,
    async namespace(prefix = 'test') {
      const name = `${prefix}-${randomBytes(4).toString('hex')}`;
      const { client, namespaces } = started();
      await client.create(namespaceKind, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      namespaces.push(name);
      // Pods are refused until the controllers have made this.
      await until(() => exists(client.get(serviceAccountKind, { namespace: name, name: 'default' })));
      return name;
    },
    stop: () => started().stop(),
  };
}
