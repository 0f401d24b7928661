// Runs one client in its own process: performs the task that bench/client.ts requests and reports its cost.
import https from 'node:https';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { Address } from './fake-server.ts';

/** The cost of a task in this process. */
export interface Cost {
  readonly ms: number;
  readonly cpuMs: number;
  /** The longest time that the event loop was blocked. */
  readonly stallMs: number;
}

export type Task = 'list' | 'gets' | 'watch';

const GETS = 300;
const PODS = 10_000;
const EVENTS = 50_000;
const SETTLE_MS = 10;

/** The same work for all clients. Each method resolves with the number of objects or events that it received. */
type Work = Readonly<Partial<Record<Task, () => Promise<number>>>>;

const expected: Readonly<Record<Task, number>> = { list: PODS, gets: GETS, watch: EVENTS };

const candidates = { ours, table, clientNode, bare };
export type Candidate = keyof typeof candidates;

/** Our client, as reflectors use it. */
async function ours({ url, caPem }: Address): Promise<Work> {
  const { connect } = await import('../src/kube/client/connect.ts');
  const { defineKind, keyOf } = await import('../src/kube/objects.ts');
  const client = connect({ server: url, caPem });
  const Pod = defineKind('v1', 'Pod', 'pods');
  const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');
  return {
    async list() {
      const items: unknown[] = [];
      for (let next: string | undefined, left = true; left; left = next !== undefined) {
        const more = next === undefined ? {} : { continue: next };
        const page = await client.list(Pod, { limit: 500, omitForeignManagedFields: true, ...more });
        items.push(...page.items);
        next = page.continue;
      }
      return items.length;
    },
    async gets() {
      let count = 0;
      for (; count < GETS; count++) await client.get(ConfigMap, { namespace: 'shop', name: 'small' });
      return count;
    },
    async watch() {
      const objects = new Map<string, unknown>();
      let count = 0;
      const options = { namespace: 'watched', resourceVersion: '1', omitForeignManagedFields: true };
      await client.watch(Pod, options, (event) => {
        if (event.type === 'BOOKMARK') return;
        objects.set(keyOf(event.object.metadata), event.object);
        count++;
      });
      return count;
    },
  };
}

/** Our client, as controllers use it: a table with a subscriber, filled by a reflector. */
async function table({ url, caPem }: Address): Promise<Work> {
  const { connect, defineKind, runReflector, systemClock, Table } = await import('../src/kube/index.ts');
  const client = connect({ server: url, caPem });
  const Pod = defineKind('v1', 'Pod', 'pods');
  return {
    async watch() {
      const pods = new Table(Pod, { namespace: 'watched' });
      const ended = new AbortController();
      const { signal } = ended;
      const running = runReflector({ client, table: pods, clock: systemClock, signal });
      let count = 0;
      for await (const { updates } of pods.map.subscribe({ signal, state: false })) {
        count += updates.length;
        if (count === EVENTS) ended.abort();
      }
      await running;
      return count;
    },
  };
}

async function clientNode({ url, caPem }: Address): Promise<Work> {
  const k8s = await import('@kubernetes/client-node');
  const config = new k8s.KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'c', server: url, caData: Buffer.from(caPem).toString('base64') }],
    users: [{ name: 'u' }],
    contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
    currentContext: 'x',
  });
  const core = config.makeApiClient(k8s.CoreV1Api);
  return {
    list: async () => (await core.listPodForAllNamespaces()).items.length,
    async gets() {
      let count = 0;
      for (; count < GETS; count++) await core.readNamespacedConfigMap({ namespace: 'shop', name: 'small' });
      return count;
    },
    async watch() {
      const list = () => core.listNamespacedPod({ namespace: 'watched' });
      const informer = k8s.makeInformer(config, '/api/v1/namespaces/watched/pods', list);
      let count = 0;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const seen = (): void => {
        if (++count === EVENTS) resolve();
      };
      for (const verb of ['add', 'update', 'delete'] as const) informer.on(verb, seen);
      informer.on('error', reject);
      await informer.start();
      await promise;
      await informer.stop();
      return count;
    },
  };
}

/** A watch without any client: a request, splitting lines and JSON.parse. */
async function bare({ url, caPem }: Address): Promise<Work> {
  const watch = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const objects = new Map<string, unknown>();
      let count = 0;
      let rest: Buffer = Buffer.alloc(0);
      const request = https.get(`${url}/api/v1/namespaces/watched/pods?watch=1`, { ca: caPem }, (response) => {
        response.on('data', (chunk: Buffer) => {
          const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
          let start = 0;
          for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
            const { object } = JSON.parse(bytes.toString('utf8', start, end)) as Event;
            objects.set(`${object.metadata.namespace}/${object.metadata.name}`, object);
            start = end + 1;
            count++;
          }
          rest = bytes.subarray(start);
        });
        response.on('end', () => resolve(count));
      });
      request.on('error', reject);
    });
  return { watch };
}

interface Event {
  readonly object: { readonly metadata: { readonly namespace: string; readonly name: string } };
}

async function measure(task: Task, work: () => Promise<number>): Promise<Cost> {
  globalThis.gc?.();
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  await pause(SETTLE_MS);
  const cpu = process.cpuUsage();
  const started = performance.now();
  const count = await work();
  const ms = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  // The last stall is recorded only in the next turn of the event loop.
  await pause(SETTLE_MS);
  delays.disable();
  if (count !== expected[task]) throw new Error(`${task}: got ${count}, expected ${expected[task]}`);
  return { ms, cpuMs: (user + system) / 1000, stallMs: delays.max / 1e6 };
}

/** A request of the parent process. */
export interface Order {
  readonly candidate: Candidate;
  readonly address: Address;
  readonly task: Task;
}

if (process.send !== undefined) {
  let made: Promise<Work> | undefined;
  process.on('message', ({ candidate, address, task }: Order) => {
    made ??= candidates[candidate](address);
    void made
      .then((work) => measure(task, work[task]!))
      .then(
        (cost) => process.send?.(cost),
        (error: unknown) => {
          console.error(error);
          process.exit(1);
        },
      );
  });
  process.on('disconnect', () => process.exit(0));
}
