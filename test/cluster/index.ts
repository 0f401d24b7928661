// The cluster fixture: a suite written with `describeClusters` runs on every cluster that this machine has.
//   KUBECONFIG_TEST=FILE           run on that cluster instead
//   OFFSHOOT_REAL_CLUSTER=require  fail, rather than skip, if the real cluster is missing
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import type { Client } from '../../src/kube/client/client.ts';
import { connect } from '../../src/kube/client/connect.ts';
import { loadConfig } from '../../src/kube/client/config/kubeconfig.ts';
import { defineKind } from '../../src/kube/objects.ts';
import { Namespace } from '../support/core-kinds.ts';
import { findObject } from '../support/find-object.ts';
import { describeRequiring } from '../support/requirements.ts';
import type { Requirement } from '../support/requirements.ts';
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
  /** Creates a namespace for a test, so that suites can share a cluster; it is deleted when the suite ends. */
  namespace(prefix?: string): Promise<string>;
  stop(): Promise<void>;
}

/** One kind of cluster. */
export interface Driver {
  readonly name: Cluster['name'];
  /** One line that says why this cluster is not available here. */
  missing(): string | undefined;
  start(): Promise<RunningCluster>;
}

const embedded: Driver = {
  name: 'embedded',
  missing: () => undefined,
  // It starts fast, so every suite gets its own.
  start: ownClusters.embedded,
};

const real: Driver = {
  name: 'real',
  missing() {
    const found = findPrograms(kubernetes);
    return 'missing' in found ? found.missing : undefined;
  },
  async start() {
    // It is shared by all suites of the run, and ends with the process.
    return { ...(await sharedRealCluster()), stop: async () => undefined };
  },
};

/** Clusters that are not shared with other suites. */
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

/** Runs a suite on every cluster. The cluster has started in tests and hooks only, not in the body of `define`. */
export function describeClusters(name: string, define: (cluster: Cluster) => void): void {
  describeEach(clusters(), name, define);
}

/** Like `describeClusters`, on clusters that no other suite uses: for controllers that act on the whole cluster. */
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

/** Defines a suite that starts its own real clusters, because it stops or freezes them. */
export function describeReal(name: string, define: () => void): void {
  describeOn(real, name, define);
}

export function clusterRequirement(driver: Driver): Requirement {
  return { what: `${driver.name} cluster`, missing: driver.missing(), variable: 'OFFSHOOT_REAL_CLUSTER' };
}

/** Defines a suite on one kind of cluster; it is skipped where that is missing. */
export function describeOn(driver: Driver, name: string, define: () => void): void {
  describeRequiring(`${name} (${driver.name})`, [clusterRequirement(driver)], define);
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

/** Starts a cluster, and a client for it. */
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
      await Promise.all(namespaces.map((name) => client.delete(Namespace, { name })));
      client.close();
      await running.stop();
    },
  };
}

const serviceAccountKind = defineKind('v1', 'ServiceAccount', 'serviceaccounts');

/** The cluster as suites see it. */
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
      await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      namespaces.push(name);
      // Pods are rejected until this exists.
      const account = { namespace: name, name: 'default' };
      await until(async () => (await findObject(client, serviceAccountKind, account)) !== undefined);
      return name;
    },
    stop: () => started().stop(),
  };
}
