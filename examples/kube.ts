// Waits until a Deployment has all its pods, and shows every step on the way.
//   node examples/kube.ts NAMESPACE NAME          with $KUBECONFIG, or ~/.kube/config
import { connect, defineKind, defineTable, loadConfig, systemClock, Tables } from 'offshoot/kube';
import type { KubeObject } from 'offshoot/kube';

interface Deployment extends KubeObject {
  readonly spec: { readonly replicas?: number };
  readonly status?: { readonly readyReplicas?: number };
}

const Deployment = defineKind<Deployment>('apps/v1', 'Deployment', 'deployments');
const [namespace, name] = process.argv.slice(2);
if (namespace === undefined || name === undefined) throw new Error('say which one: NAMESPACE NAME');

const client = connect(loadConfig());
const stopping = new AbortController();
const { signal } = stopping;

// A table is kept current by a list and a watch, which resume by themselves whatever happens to the connection.
const tables = new Tables();
const kept = tables.run({ client, clock: systemClock, signal });
const table = tables.of(defineTable(Deployment, { namespace, fieldSelector: `metadata.name=${name}` }));
await table.whenSynced(signal);
if (table.size === 0) console.log(`${namespace}/${name} is not there yet`);

for await (const { state } of table.map.subscribe({ signal })) {
  for (const { spec, status } of state.values()) {
    const { replicas = 1 } = spec;
    const { readyReplicas = 0 } = status ?? {};
    console.log(`${namespace}/${name}: ${readyReplicas} of ${replicas} pods are ready`);
    if (readyReplicas === replicas) stopping.abort();
  }
}
await kept;
client.close();
