// A workload on the real node with its way through the mesh, somebody who calls it, and an environment of it.
import type { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { workload } from '../environments/workload.ts';
import { toolboxImage } from './addresses.ts';
import { apply } from './kubectl.ts';
import type { Kubectl } from './kubectl.ts';

const port = 8080;

/** Where the workload answers within its namespace. */
export const urlOf = (name: string): string => `http://${name}:${port}/`;

/** What `toolbox load` prints. */
export interface LoadReport {
  readonly sent: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly versions: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
}

/** A namespace in the mesh, with strict mutual TLS, the workload `name` and a Deployment `caller`. */
export async function makeShop(kubectl: Kubectl, namespace: string, name: string): Promise<void> {
  const { deployment, service, rule, routes } = workload(namespace, name);
  const metadata = { name: namespace, labels: { 'istio-injection': 'enabled' } };
  const strict = {
    apiVersion: 'security.istio.io/v1',
    kind: 'PeerAuthentication',
    metadata: { name: 'strict', namespace },
    spec: { mtls: { mode: 'STRICT' } },
  };
  await apply(kubectl, { apiVersion: 'v1', kind: 'Namespace', metadata });
  await apply(
    kubectl,
    strict,
    { ...service, spec: { ...service.spec, ports: [{ name: 'http', port }] } },
    rule,
    routes,
    { ...deployment, spec: { ...deployment.spec, template: web(name, { app: name, version: 'shared' }, 'shared') } },
    pods(namespace, 'caller', ['pause']),
  );
  for (const each of [name, 'caller'])
    await kubectl(['rollout', 'status', '-n', namespace, `deployment/${each}`, '--timeout=90s']);
}

function web(name: string, labels: Readonly<Record<string, string>>, version: string): object {
  const container = {
    name,
    image: toolboxImage,
    args: ['web'],
    env: [{ name: 'VERSION', value: version }],
    readinessProbe: { httpGet: { path: '/', port }, periodSeconds: 1 },
  };
  return { metadata: { labels }, spec: { containers: [container] } };
}

function pods(namespace: string, name: string, args: readonly string[]): object {
  const labels = { app: name };
  const spec = { containers: [{ name, image: toolboxImage, args }], terminationGracePeriodSeconds: 1 };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

/** An environment of the workload whose clone says `version`, for requests with the header `end-user: alice`. */
export function shopEnvironment(namespace: string, name: string, version: string): DynamicEnv {
  return {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: { name: 'try', namespace },
    spec: {
      istioMatches: [{ headers: { 'end-user': { exact: 'alice' } } }],
      subsets: [
        {
          name,
          namespace,
          containers: [{ containerName: name, image: toolboxImage, env: [{ name: 'VERSION', value: version }] }],
        },
      ],
    },
  };
}

/** Sends requests from the pod of the namespace's caller while `during` runs, and answers with what came back. */
export async function underLoad(
  kubectl: Kubectl,
  { namespace, url, rate, header }: { namespace: string; url: string; rate: number; header?: string },
  during: Promise<unknown>,
): Promise<LoadReport> {
  const flags = [`--rate=${rate}`, '--seconds=300', ...(header === undefined ? [] : [`--header=${header}`])];
  const command = [
    'exec',
    '-i',
    '-n',
    namespace,
    'deploy/caller',
    '-c',
    'caller',
    '--',
    'toolbox',
    'load',
    url,
    ...flags,
  ];
  return JSON.parse(await kubectl(command, during)) as LoadReport;
}
