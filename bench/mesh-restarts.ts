// Measures the cost of restarting workloads for the mesh, and whether it grows with the number of unrelated pods.
import { Istio, istio } from '../src/api/istio.ts';
import { defineKind } from '../src/kube/index.ts';
import type { AnyKind, AnyObject, Client } from '../src/kube/index.ts';
import {
  builtinRenderer,
  desiredOperator,
  EXCLUDED,
  foundation,
  istioTag,
  LAST_APPLIED,
  RESTARTED_FOR,
  writeLastApplied,
} from '../src/mesh/index.ts';
import type { Pod, Workload } from '../src/mesh/index.ts';
import type { Cost } from './control-plane.ts';
import { each, MeasuredCluster } from './measured-cluster.ts';
import { note, table, target } from './support.ts';

const SIZES = [50, 500, 5_000] as const;
const OUTDATED = 20;
const PODS_EACH = 2;
const VERSION = '1.31.0';
const TAG = istioTag(VERSION);
const IMAGE = `docker.io/istio/proxyv2:${TAG}`;
const SHOP = 'shop';
/** The namespace of pods that need no restart. */
const CROWD = 'crowd';

const Deployment = defineKind<Workload>('apps/v1', 'Deployment', 'deployments');
const Pods = defineKind<Pod>('v1', 'Pod', 'pods');

interface Measured {
  readonly before: Cost;
  readonly restarts: Cost;
  readonly ms: number;
}

/** Returns true when all targets are met. */
export async function run(): Promise<boolean> {
  const measured: Measured[] = [];
  for (const size of SIZES) measured.push(await measure(size));
  const rows = SIZES.flatMap((size, i) => {
    const { before, restarts, ms } = measured[i]!;
    return [
      note(`to restart one workload of ${OUTDATED} beside ${size} pods`, ms / OUTDATED, ' ms'),
      note('  writes', restarts.writes / OUTDATED, ''),
      note('  Events', restarts.events / OUTDATED, ''),
      note('  all requests', restarts.requests / OUTDATED, ''),
      note('  CPU time', restarts.cpuMs / OUTDATED, ' ms'),
      note('  memory before', before.residentMb, ' MB'),
      note('  peak memory', restarts.peakMb, ' MB'),
    ];
  });
  const [least, most] = [measured.at(0)!, measured.at(-1)!];
  const pods = SIZES.at(-1)! - SIZES[0];
  return table('mesh restarts', [
    ...rows,
    target(
      'requests, beside 5,000 pods and beside 50',
      most.restarts.requests / least.restarts.requests,
      1.3,
      'atMost',
    ),
    target('memory for each pod', ((most.before.heapMb - least.before.heapMb) * 1024) / pods, 8, 'atMost', ' KB'),
    target(
      'peak memory that restarts add, beside 5,000 pods',
      most.restarts.peakMb - most.before.peakMb,
      32,
      'atMost',
      ' MB',
    ),
  ]);
}

async function measure(size: number): Promise<Measured> {
  const cluster = await MeasuredCluster.start('mesh-restarts-worker.ts', [istio.crd]);
  try {
    const { client } = cluster;
    await installMesh(client);
    await each(size - OUTDATED * PODS_EACH, (i) => create(client, Pods, pod(`p-${i}`, IMAGE)));
    // They are excluded from restarts until all of them exist.
    await each(OUTDATED, (i) => create(client, Deployment, deployment(`w-${i}`)));
    await until(async () => {
      const { items } = await client.list(Deployment, { namespace: SHOP });
      return items.every(({ status }) => status?.availableReplicas === PODS_EACH);
    });
    await until(async () => {
      const { items } = await client.list(Pods, { fieldSelector: 'status.phase!=Running' });
      return items.length === 0;
    });
    const apiVersion = 'operator.kyma-project.io/v1alpha2';
    const annotations = { [LAST_APPLIED]: writeLastApplied({}, TAG) };
    const metadata = { namespace: 'kyma-system', name: 'default', annotations };
    await client.create(Istio, { apiVersion, kind: 'Istio', metadata });
    const before = await cluster.cost();
    const started = performance.now();
    const body = { metadata: { annotations: { [EXCLUDED]: null } } };
    await each(OUTDATED, async (i) => {
      await client.patch(Deployment, { namespace: SHOP, name: `w-${i}` }, { type: 'merge', body });
    });
    await until(async () => {
      const { items } = await client.list(Deployment, { namespace: SHOP });
      return items.every(({ spec, status }) => {
        const isRestarted = spec?.template?.metadata?.annotations?.[RESTARTED_FOR] !== undefined;
        return isRestarted && status?.updatedReplicas === PODS_EACH;
      });
    });
    const ms = performance.now() - started;
    return { before, restarts: await cluster.cost(), ms };
  } finally {
    await cluster.stop();
  }
}

/** Creates the objects that restarts read: the configuration of the injector and of proxies, and an istiod. */
async function installMesh(client: Client): Promise<void> {
  const facts = { size: 'Production', flavour: 'unknown', hub: 'docker.io/istio', version: VERSION } as const;
  const rendered = await builtinRenderer.render(
    desiredOperator({}, { ...facts, disableCni: true }),
    new AbortController().signal,
  );
  const isRead = ({ kind, metadata }: AnyObject): boolean =>
    kind === 'ConfigMap' || (metadata.name === 'istiod' && (kind === 'Deployment' || kind === 'ServiceAccount'));
  const namespaces = ['kyma-system', SHOP, CROWD].map((name): AnyObject => {
    return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  });
  const PLURALS: Readonly<Record<string, string>> = { PriorityClass: 'priorityclasses' };
  for (const object of [...foundation(), ...namespaces, ...rendered.filter(isRead)]) {
    const { apiVersion, kind, metadata } = object;
    const namespaced = metadata.namespace !== undefined;
    await create(
      client,
      defineKind(apiVersion, kind, PLURALS[kind] ?? `${kind.toLowerCase()}s`, { namespaced }),
      object,
    );
  }
}

async function create(client: Client, kind: AnyKind, object: AnyObject): Promise<void> {
  await client.create<AnyObject>(kind as never, object);
}

function pod(name: string, image: string): AnyObject {
  const { metadata, spec } = template(image, { app: 'shop' });
  // The pod has a node already, because scheduling thousands would take longer than everything measured.
  const placed = { ...spec, nodeName: 'offshoot-node-1' };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, namespace: CROWD, name }, spec: placed };
}

/** As large as real pods, although the controllers keep only a small part. */
function template(image: string, labels: Readonly<Record<string, string>>) {
  const env = Array.from({ length: 30 }, (_none, i) => ({ name: `SETTING_${i}`, value: `value of the setting ${i}` }));
  const resources = { requests: { cpu: '10m', memory: '192Mi' }, limits: { cpu: '1', memory: '1Gi' } };
  return {
    metadata: { labels, annotations: { 'sidecar.istio.io/status': '{"version":"1"}' } },
    spec: {
      initContainers: [{ name: 'istio-init', image }],
      containers: [
        { name: 'app', image: 'example.org/app', env },
        { name: 'istio-proxy', image, resources, env },
      ],
    },
  };
}

function deployment(name: string): AnyObject {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: SHOP, name, annotations: { [EXCLUDED]: 'true' } },
    spec: {
      replicas: PODS_EACH,
      selector: { matchLabels: labels },
      template: template('docker.io/istio/proxyv2:1.30.0-distroless', labels),
    },
  };
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 300_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within 300 s: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

if (import.meta.main) process.exit((await run()) ? 0 : 1);
