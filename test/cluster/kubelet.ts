// A fake kubelet: one healthy node, and pods on it whose status follows pod-status.ts (see there for the annotation
// `offshoot.dev/simulate`). `real.ts` runs it as a separate process:
//   node test/cluster/kubelet.ts KUBECONFIG
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../src/kube/client/client.ts';
import { systemClock } from '../../src/kube/clock.ts';
import { connect } from '../../src/kube/client/connect.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../src/kube/errors.ts';
import { loadConfig } from '../../src/kube/client/config/kubeconfig.ts';
import { microTime } from '../../src/kube/times.ts';
import { defineKind } from '../../src/kube/objects.ts';
import { runReflector } from '../../src/kube/tables/reflector.ts';
import { Table } from '../../src/kube/tables/table.ts';
import { reportOn } from '../../src/embedded/simulate/pods/pod-status.ts';
import type { Pod } from '../../src/embedded/simulate/pods/pod-status.ts';

const nodeName = 'node-1';
const hostIP = '192.0.2.1';
const heartbeatMs = 10_000;
const retryMs = 250;

const pods = defineKind<Pod>('v1', 'Pod', 'pods');
const nodes = defineKind('v1', 'Node', 'nodes', { namespaced: false });
const leases = defineKind('coordination.k8s.io/v1', 'Lease', 'leases');

/** Runs the kubelet of one node until the signal aborts. */
async function runKubelet(client: Client, signal: AbortSignal): Promise<void> {
  await Promise.all([keepAlive(client, signal), new PodWorker(client).follow(signal)]);
}

/** Registers the node, and renews its status and its Lease. */
async function keepAlive(client: Client, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const renewed = await attempt('heartbeat', async () => {
      await createIfMissing(() =>
        client.create(nodes, {
          apiVersion: 'v1',
          kind: 'Node',
          metadata: { name: nodeName, labels: nodeLabels },
          status: nodeStatus(),
        }),
      );
      await client.patch(
        nodes,
        { name: nodeName },
        // Only conditions: a test may change capacity and addresses.
        { type: 'strategic', body: { status: { conditions: nodeConditions() } } },
        { subresource: 'status' },
      );
      const spec = { holderIdentity: nodeName, leaseDurationSeconds: 40, renewTime: microTime(Date.now()) };
      const metadata = { name: nodeName, namespace: 'kube-node-lease' };
      await createIfMissing(() =>
        client.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }),
      );
      await client.patch(leases, metadata, { type: 'merge', body: { spec } });
    });
    await delay(renewed ? heartbeatMs : retryMs, undefined, { signal }).catch(() => undefined);
  }
}

async function createIfMissing(create: () => Promise<unknown>): Promise<void> {
  try {
    await create();
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

const nodeLabels = {
  'kubernetes.io/hostname': nodeName,
  'kubernetes.io/os': 'linux',
  'kubernetes.io/arch': 'amd64',
};

function nodeConditions(): unknown {
  const lastHeartbeatTime = new Date().toISOString();
  const condition = (type: string, status: string, reason: string): unknown => ({
    type,
    status,
    reason,
    lastHeartbeatTime,
  });
  return [
    condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory'),
    condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure'),
    condition('PIDPressure', 'False', 'KubeletHasSufficientPID'),
    condition('Ready', 'True', 'KubeletReady'),
  ];
}

function nodeStatus(): unknown {
  const resources = { cpu: '256', memory: '1Ti', 'ephemeral-storage': '1Ti', pods: '10000' };
  return {
    capacity: resources,
    allocatable: resources,
    addresses: [
      { type: 'InternalIP', address: hostIP },
      { type: 'Hostname', address: nodeName },
    ],
    conditions: nodeConditions(),
    nodeInfo: {
      architecture: 'amd64',
      operatingSystem: 'linux',
      osImage: 'simulated',
      kernelVersion: 'simulated',
      containerRuntimeVersion: 'simulated://1',
      kubeletVersion: 'v1.36.0',
      kubeProxyVersion: '',
      machineID: nodeName,
      systemUUID: nodeName,
      bootID: nodeName,
    },
  };
}

/** Moves each pod that is bound to the node from one state to the next, one step at a time. */
class PodWorker {
  readonly #client: Client;
  readonly #table = new Table(pods, { fieldSelector: `spec.nodeName=${nodeName}` });
  /** Pods with a running step, as that step saw them. */
  readonly #working = new Map<string, Pod>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** When each pod was first seen, by uid. */
  readonly #firstSeen = new Map<string, number>();
  #addresses = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  async follow(signal: AbortSignal): Promise<void> {
    const onError = (error: unknown): void => console.error(`watching pods: ${String(error)}`);
    await Promise.all([
      this.#workOnChanges(signal),
      runReflector({ client: this.#client, table: this.#table, clock: systemClock, signal, onError }),
    ]);
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  async #workOnChanges(signal: AbortSignal): Promise<void> {
    for await (const { updates } of this.#table.map.subscribe({ signal, state: false })) {
      for (const { key, delete: isGone, value, before } of updates) {
        if (isGone) this.#firstSeen.delete(value.metadata.uid!);
        else if (before === undefined) this.#firstSeen.set(value.metadata.uid!, performance.now());
        void this.#work(key);
      }
    }
  }

  async #work(key: string): Promise<void> {
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
    if (this.#working.has(key)) return;
    let againInMs: number | undefined;
    let pod = this.#table.get(key);
    while (pod !== undefined && pod !== this.#working.get(key)) {
      const seen = pod;
      this.#working.set(key, seen);
      const done = await attempt(`pod ${key}`, async () => {
        againInMs = await this.#step(seen);
      });
      if (!done) againInMs = retryMs;
      pod = this.#table.get(key);
    }
    this.#working.delete(key);
    const again = (): void => void this.#work(key);
    if (pod !== undefined && againInMs !== undefined) this.#timers.set(key, setTimeout(again, againInMs));
  }

  /** Writes the pod's new status; returns when to run again. */
  async #step(pod: Pod): Promise<number | undefined> {
    const { uid, deletionTimestamp } = pod.metadata;
    try {
      if (deletionTimestamp !== undefined) {
        await this.#client.delete(pods, pod.metadata, { gracePeriodSeconds: 0, preconditions: { uid: uid! } });
        return undefined;
      }
      const ageMs = performance.now() - (this.#firstSeen.get(uid!) ?? 0);
      const allocateIP = (): string => this.#nextAddress();
      const { status, requeueAfterMs } = reportOn(pod, { now: Date.now(), ageMs, hostIP, allocateIP });
      if (status !== undefined) {
        const body = { metadata: { uid }, status };
        this.#table.observe(
          await this.#client.patch(pods, pod.metadata, { type: 'merge', body }, { subresource: 'status' }),
        );
      }
      return requeueAfterMs;
    } catch (error) {
      // The pod is gone, or replaced by another of that name: the watch will report it.
      if (isNotFound(error) || isConflict(error)) return undefined;
      throw error;
    }
  }

  #nextAddress(): string {
    const number = ++this.#addresses;
    return `10.244.${(number >> 8) & 255}.${number & 255}`;
  }
}

/** Runs a step whose failure must not end the kubelet: the API server may be unavailable. */
async function attempt(what: string, run: () => Promise<void>): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    console.error(`${what}: ${(error as Error).message}`);
    return false;
  }
}

/** The command line: `kubelet.ts KUBECONFIG`; ends on SIGTERM. */
if (import.meta.main) {
  const client = connect(loadConfig({ path: process.argv[2]! }), { userAgent: 'kubelet' });
  const end = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => end.abort());
  await runKubelet(client, end.signal);
  client.close();
}
