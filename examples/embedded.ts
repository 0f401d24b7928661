// A cluster for a test: starts in this process, runs a workload, and is gone afterwards.
//   node examples/embedded.ts
import { startEmbedded } from 'offshoot/embedded';
import { connect, defineKind } from 'offshoot/kube';

const Deployment = defineKind('apps/v1', 'Deployment', 'deployments');
const Pod = defineKind('v1', 'Pod', 'pods');

const cluster = await startEmbedded();
const { url: server, caPem, admin } = cluster;
const client = connect({ server, caPem, certPem: admin.certPem, keyPem: admin.keyPem });

const labels = { app: 'web' };
await client.create(Deployment, {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example.com/web:1' }] } },
  },
});

const stopping = new AbortController();
const running = new Set<string>();
const watching = client.watch(Pod, { labelSelector: 'app=web', signal: stopping.signal }, ({ object }) => {
  const { metadata, status } = object as { metadata: { name?: string }; status?: { phase?: string } };
  if (status?.phase === 'Running') running.add(metadata.name ?? '');
  if (running.size === 2) stopping.abort();
});
await watching.catch((error: unknown) => {
  if (!stopping.signal.aborted) throw error;
});
console.log(`${running.size} pods of web run`);

client.close();
await cluster.stop();
