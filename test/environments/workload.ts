// A workload with its Istio objects, and an environment of such workloads, for tests.
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { Deployment, Service } from '../../src/environments/objects.ts';
import { DestinationRule, VirtualService } from '../../src/traffic/istio/objects.ts';
import type { Client } from '../../src/kube/client/client.ts';
import type { Ref } from '../../src/kube/objects.ts';

const ISTIO = 'networking.istio.io/v1beta1';

/** The objects of a workload called `name` with the image `name:1`. */
export function workload(namespace: string, name: string) {
  const metadata = { name, namespace };
  const labels = { app: name, version: 'shared' };
  const template = { metadata: { labels }, spec: { containers: [{ name, image: `${name}:1` }] } };
  const subsets = [{ name: 'shared', labels: { version: 'shared' } }];
  const http = [{ route: [{ destination: { host: name, subset: 'shared' } }] }];
  const deployment: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...metadata, labels: { app: name } },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  };
  const service: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { selector: { app: name }, ports: [{ port: 80 }] },
  };
  const rule: DestinationRule = { apiVersion: ISTIO, kind: 'DestinationRule', metadata, spec: { host: name, subsets } };
  const routes: VirtualService = { apiVersion: ISTIO, kind: 'VirtualService', metadata, spec: { hosts: [name], http } };
  return { deployment, service, rule, routes };
}

/** Makes a workload. */
export async function makeWorkload(client: Client, namespace: string, name: string): Promise<void> {
  const { deployment, service, rule, routes } = workload(namespace, name);
  await client.create(Deployment, deployment);
  await client.create(Service, service);
  await client.create(DestinationRule, rule);
  await client.create(VirtualService, routes);
}

/** An environment of workloads, each with the image `name:2`, for requests of alice. */
export function environment(
  namespace: string,
  name: string,
  workloads: readonly (Ref & { readonly namespace: string })[],
): DynamicEnv {
  return {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: { name, namespace },
    spec: {
      istioMatches: [{ headers: { 'end-user': { exact: 'alice' } } }],
      subsets: workloads.map((each) => ({
        name: each.name,
        namespace: each.namespace,
        containers: [{ containerName: each.name, image: `${each.name}:2` }],
      })),
    },
  };
}

/** Whether an environment is in a state. */
export async function isIn(client: Client, env: Ref, state: 'ready' | 'degraded'): Promise<boolean> {
  return (await client.get(DynamicEnv, env)).status?.state === state;
}
