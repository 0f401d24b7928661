// A workload in the mesh of the real node, and a caller.
import { workload } from '../environments/workload.ts';
import { toolboxImage } from './addresses.ts';
import { apply } from './kubectl.ts';
import type { Kubectl } from './kubectl.ts';

/** The port of workloads. */
export const port = 8080;

/** What `toolbox load` prints. */
export interface LoadReport {
  readonly sent: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly versions: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
}

/** Creates a namespace in the mesh, with strict mutual TLS, the workload `name` and a Deployment `caller`. */
export async function makeShop(kubectl: Kubectl, namespace: string, name: string): Promise<void> {
  const { deployment, service, rule, routes } = workload(namespace, name);
  const metadata = { name: namespace, labels: { 'istio-injection': 'enabled' } };
  const strict = {
    apiVersion: 'security.istio.io/v1',
    kind: 'PeerAuthentication',
    metadata: { name: 'strict', namespace },
    spec: { mtls: { mode: 'STRICT' } },
  };
  const template = deployment.spec.template;
  const readinessProbe = { httpGet: { path: '/', port }, periodSeconds: 1 };
  const [container] = template.spec!.containers!;
  await apply(kubectl, { apiVersion: 'v1', kind: 'Namespace', metadata });
  await apply(
    kubectl,
    strict,
    { ...service, spec: { ...service.spec, ports: [{ name: 'http', port }] } },
    rule,
    routes,
    {
      ...deployment,
      spec: { ...deployment.spec, template: { ...template, spec: { containers: [{ ...container, readinessProbe }] } } },
    },
    pods(namespace, 'caller', ['pause']),
  );
  for (const each of [name, 'caller'])
    await kubectl(['rollout', 'status', '-n', namespace, `deployment/${each}`, '--timeout=90s']);
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

/** Sends requests from the caller of the namespace until `during` settles, and returns the report. */
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
