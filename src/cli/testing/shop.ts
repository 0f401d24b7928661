// A small shop on an embedded cluster, with the controller for environments. For tests of the command line.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { dynamicEnv } from '../../api/dynamicenv.ts';
import { createLogger, Manager } from '../../controller/index.ts';
import { istioDefinitions } from '../../embedded/crd/bundled/istio.ts';
import { startEmbedded } from '../../embedded/index.ts';
import { environments } from '../../environments/index.ts';
import { DestinationRule, VirtualService } from '../../traffic/istio/objects.ts';
import { connect } from '../../kube/client/connect.ts';
import type { Client } from '../../kube/client/client.ts';
import { defineKind } from '../../kube/objects.ts';
import type { AnyObject, Kind } from '../../kube/objects.ts';
import { runnerFor } from './offshoot-process.ts';
import type { Runner } from './offshoot-process.ts';

export interface Shop extends Runner {
  readonly client: Client;
  readonly dir: string;
  /** Adds a Deployment with its Service, DestinationRule and VirtualService. */
  deploy(name: string, options?: { simulate?: string; containers?: readonly string[]; mesh?: boolean }): Promise<void>;
  stop(): Promise<void>;
}

const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
  namespaced: false,
});
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
const Deployment = defineKind('apps/v1', 'Deployment', 'deployments');
const Service = defineKind('v1', 'Service', 'services');

/** Starts a shop; without `controller`, no controller manages its environments. */
export async function openShop(options: { controller?: boolean } = {}): Promise<Shop> {
  const cluster = await startEmbedded();
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-cli-'));
  const kubeconfig = path.join(dir, 'kubeconfig');
  writeFileSync(kubeconfig, cluster.kubeconfig().replaceAll(/^(\s+)user: .*$/gm, '$&\n$1namespace: shop'));
  const client = connect({ server: cluster.url, caPem: cluster.caPem, token: cluster.admin.token });
  const create = (kind: Kind, object: Pick<AnyObject, 'metadata'> & { readonly spec?: unknown }): Promise<unknown> => {
    const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
    return client.create(kind, { apiVersion, kind: kind.kind, ...object });
  };
  const definitions: readonly unknown[] = [dynamicEnv.crd, ...Object.values(istioDefinitions())];
  for (const definition of definitions) await client.create(Definition, definition as AnyObject);
  await create(Namespace, { metadata: { name: 'shop' } });
  const manager = new Manager({
    client,
    controllers: environments({ drainMs: 0, settleMs: 0 }),
    logger: createLogger({ level: 'silent' }),
  });
  if (options.controller ?? true) await manager.start();

  return {
    client,
    dir,
    ...runnerFor(kubeconfig),
    async deploy(name, { simulate, containers = [name], mesh = true } = {}) {
      const labels = { app: name, version: 'shared' };
      const annotations = simulate === undefined ? {} : { 'offshoot.dev/simulate': simulate };
      const metadata = { name, namespace: 'shop' };
      await create(Deployment, {
        metadata,
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels, annotations },
            spec: { containers: containers.map((each) => ({ name: each, image: `${each}:1` })) },
          },
        },
      });
      await create(Service, { metadata, spec: { selector: { app: name }, ports: [{ port: 9080 }] } });
      if (!mesh) return;
      const subsets = [{ name: 'shared', labels: { version: 'shared' } }];
      await create(DestinationRule as Kind, { metadata, spec: { host: name, subsets } });
      const route = [{ destination: { host: name, subset: 'shared' } }];
      await create(VirtualService as Kind, { metadata, spec: { hosts: [name], http: [{ route }] } });
    },
    async stop() {
      await manager.stop();
      client.close();
      await cluster.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
