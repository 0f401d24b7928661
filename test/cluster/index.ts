// The cluster fixture: a suite written with `describeClusters` runs on every cluster that this machine can offer.
//   KUBECONFIG_TEST=FILE           run on that cluster instead
//   OFFSHOOT_REAL_CLUSTER=require  a missing real cluster is a failure, not a skip
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import type { Client } from '../../src/kube/client/client.ts';
import { connect } from '../../src/kube/client/connect.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import { loadConfig } from '../../src/kube/client/config/kubeconfig.ts';
import { defineKind } from '../../src/kube/objects.ts';
import { describeNeeding } from '../support/needs.ts';
import type { Need } from '../support/needs.ts';
import { until } from '../support/until.ts';
import { kubernetes } from '../programs/kubernetes.ts';
import { findPrograms } from '../programs/programs.ts';
import { ownClusters } from './own.ts';
import type { RunningCluster } from './own.ts';
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
export interface Driver {
  readonly name: Cluster['name'];
  /** One line that says why this cluster cannot be had here. */
  missing(): string | undefined;
  start(): Promise<RunningCluster>;
}

const embedded: Driver = {
  name: 'embedded',
  missing: () => undefined,
  // Starts in a moment, so every suite gets one of its own.
  start: ownClusters.embedded,
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

/** For suites whose clusters are used for nothing else. */
export const ownDrivers: readonly Driver[] = [embedded, { ...real, start: ownClusters.real }];

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
  describeEach(clusters(), name, define);
}

/** The same with clusters that no other suite uses: for controllers that must not meet what others do there. */
export function describeOwnClusters(name: string, define: (cluster: Cluster) => void): void {
  describeEach(ownDrivers, name, define);
}

function describeEach(drivers: readonly Driver[], name: string, define: (cluster: Cluster) => void): void {
  for (const driver of drivers) {
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

/** What a suite on a cluster needs. */
export function clusterNeed(driver: Driver): Need {
  return { what: `${driver.name} cluster`, missing: driver.missing(), variable: 'OFFSHOOT_REAL_CLUSTER' };
}

/** A suite on one kind of cluster, which is skipped where that is missing. */
export function describeOn(driver: Driver, name: string, define: () => void): void {
  describeNeeding(`${name} (${driver.name})`, [clusterNeed(driver)], define);
}

function fail(reason: string): never {
  throw new Error(reason);
}

export interface Started {
  readonly kubeconfigPath: string;
  readonly client: Client;
  readonly namespaces: string[];
  stop(): Promise<void>;
}

/** Starts a cluster, with a client of it. */
export async function start(driver: Driver): Promise<Started> {
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

/** What a suite sees of a cluster. */
export function handle(driver: Driver, started: () => Started): Cluster {
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
