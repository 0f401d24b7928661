// A controller in one function: every Namespace with the label example.com/pods gets a ResourceQuota of that many pods.
//   node examples/controller.ts          with $KUBECONFIG, or ~/.kube/config; Ctrl-C stops it
import { defineController, Manager } from 'offshoot/controller';
import type { Plan } from 'offshoot/controller';
import { connect, defineKind, loadConfig, own, remove } from 'offshoot/kube';
import type { KubeObject } from 'offshoot/kube';

interface ResourceQuota extends KubeObject {
  readonly spec: { readonly hard: Readonly<Record<string, string>> };
}

const Namespace = defineKind<KubeObject>('v1', 'Namespace', 'namespaces', { namespaced: false });
const ResourceQuota = defineKind<ResourceQuota>('v1', 'ResourceQuota', 'resourcequotas');

const quotas = defineController<KubeObject>({
  name: 'quotas',
  kind: Namespace,
  ownsStatus: false,
  // Pure: what to do now, given what is there. Reading is subscribing: whoever changes or deletes the quota wakes it.
  plan(view, { metadata }): Plan {
    const ref = { name: 'pods', namespace: metadata.name };
    const found = view.get(ResourceQuota, ref);
    if (metadata.deletionTimestamp !== undefined) return {};
    const pods = metadata.labels?.['example.com/pods'];
    if (pods === undefined) return { steps: found === undefined ? [] : [remove(ResourceQuota, found)] };
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: ref, spec: { hard: { pods } } };
    return { steps: [own(ResourceQuota, quota)] };
  },
});

const client = connect(loadConfig());
const manager = new Manager({ client, controllers: [quotas] });
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void manager.stop());
await manager.start();
await manager.done;
client.close();
