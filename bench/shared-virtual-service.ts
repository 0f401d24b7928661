// Measures environments that share a VirtualService: created together, after a reset by GitOps, deleted together.
import type { AnyObject } from '../src/kube/index.ts';
import type { Cost } from './control-plane.ts';
import {
  createWorkload,
  DEFINITIONS,
  DynamicEnv,
  environmentOf,
  NAMESPACE,
  VirtualService,
} from './environments-world.ts';
import { each, MeasuredCluster } from './measured-cluster.ts';
import { note, table, target } from './support.ts';
import type { Row } from './support.ts';

const SIZES = [10, 100, 400] as const;
const WORKLOAD = 'app';
const REF = { name: WORKLOAD, namespace: NAMESPACE };

/** The cost of one phase. */
interface Phase {
  readonly ms: number;
  /** Versions of the VirtualService that our writes created, and their size: all proxies receive each of them. */
  readonly writes: number;
  readonly bytes: number;
  readonly cost: Cost;
}

/** Returns true when all targets are met. */
export async function run(): Promise<boolean> {
  const rows: Row[] = [];
  const measured = new Map<number, Measured>();
  for (const size of SIZES) {
    const result = await measure(size);
    measured.set(size, result);
    rows.push(...result.rows);
  }
  return table('environments on one VirtualService', [...rows, ...growthOf(measured)]);
}

interface Measured {
  readonly rows: readonly Row[];
  readonly created: Phase;
  readonly deleted: Phase;
}

/** Writes and CPU must grow with the number of environments, not with its square. */
function growthOf(measured: ReadonlyMap<number, Measured>): readonly Row[] {
  const times = (phase: 'created' | 'deleted', of: (cost: Cost) => number, small: number, large: number): number =>
    of(measured.get(large)![phase].cost) / large / (of(measured.get(small)![phase].cost) / small);
  return (['created', 'deleted'] as const).flatMap((phase) => [
    target(
      `${phase}: writes for each, 400 against 10`,
      times(phase, ({ writes }) => writes, 10, 400),
      1.2,
      'atMost',
      'x',
    ),
    target(
      `${phase}: CPU for each, 400 against 100`,
      times(phase, ({ cpuMs }) => cpuMs, 100, 400),
      1.5,
      'atMost',
      'x',
    ),
  ]);
}

async function measure(size: number): Promise<Measured> {
  const world = await SharedWorld.start();
  try {
    const created = await world.phase(() => world.create(size));
    const reset = await world.phase(() => world.reset(size));
    const deleted = await world.phase(() => world.delete(size));
    const rows = [
      ...rowsOf(`${size} created together`, created),
      ...rowsOf(`${size} after a reset`, reset),
      target('  of it writes to the VirtualService', reset.writes, 1, 'atMost', ''),
      ...rowsOf(`${size} deleted together`, deleted),
    ];
    return { rows, created, deleted };
  } finally {
    await world.stop();
  }
}

function rowsOf(name: string, { ms, writes, bytes, cost }: Phase): readonly Row[] {
  return [
    note(name, ms, ' ms'),
    note('  versions of the VirtualService', writes, ''),
    note('  all of them', bytes / 1024, ' KB'),
    note('  all writes', cost.writes, ''),
    note('  CPU of the control plane', cost.cpuMs, ' ms'),
    target('  conflicts', cost.conflicts, 0, 'atMost', ''),
  ];
}

/** One workload, and environments that all have routes in its VirtualService. */
class SharedWorld {
  readonly #cluster: MeasuredCluster;
  /** Versions of the VirtualService since the last phase: the number of its routes, and its size. */
  #versions: { readonly routes: number; readonly bytes: number }[] = [];
  readonly #ready = new Set<string>();
  readonly #known = new Set<string>();
  #check = (): void => {};

  private constructor(cluster: MeasuredCluster) {
    this.#cluster = cluster;
  }

  static async start(): Promise<SharedWorld> {
    const world = new SharedWorld(await MeasuredCluster.start('environments-worker.ts', DEFINITIONS));
    await createWorkload(world.#cluster.client, WORKLOAD);
    await world.#watch();
    await world.#cluster.cost();
    return world;
  }

  stop(): Promise<void> {
    return this.#cluster.stop();
  }

  async phase(work: () => Promise<void>): Promise<Phase> {
    this.#versions = [];
    const started = performance.now();
    await work();
    const ms = performance.now() - started;
    const cost = await this.#cluster.cost();
    const bytes = this.#versions.reduce((sum, version) => sum + version.bytes, 0);
    return { ms, writes: this.#versions.length, bytes, cost };
  }

  async create(size: number): Promise<void> {
    const { client } = this.#cluster;
    await each(size, async (i) => void (await client.create(DynamicEnv, environmentOf(`e${i}`, WORKLOAD))), size);
    await this.#until(() => this.#ready.size === size);
  }

  /** Replaces the whole VirtualService, like a GitOps tool that knows nothing of environments. */
  async reset(size: number): Promise<void> {
    const { client } = this.#cluster;
    const { metadata } = await client.get(VirtualService, REF);
    const { resourceVersion } = metadata;
    await client.update(VirtualService, {
      apiVersion: 'networking.istio.io/v1beta1',
      kind: 'VirtualService',
      metadata: { ...REF, ...(resourceVersion !== undefined && { resourceVersion }) },
      spec: { hosts: [WORKLOAD], http: [{ route: [{ destination: { host: WORKLOAD, subset: 'shared' } }] }] },
    });
    await this.#until(() => this.#versions.at(-1)?.routes === size + 1);
    // The reset itself is not a write of the controllers.
    this.#versions.shift();
  }

  async delete(size: number): Promise<void> {
    const { client } = this.#cluster;
    await each(
      size,
      async (i) => void (await client.delete(DynamicEnv, { name: `e${i}`, namespace: NAMESPACE })),
      size,
    );
    await this.#until(() => this.#known.size === 0);
  }

  async #until(condition: () => boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#check = () => {
        if (condition()) resolve();
      };
      this.#check();
    });
  }

  async #watch(): Promise<void> {
    const { client } = this.#cluster;
    const watch = async (
      kind: typeof DynamicEnv,
      seen: (object: AnyObject, isGone: boolean) => void,
    ): Promise<void> => {
      const opened = Promise.withResolvers<void>();
      const options = { namespace: NAMESPACE, onOpen: () => opened.resolve() };
      const watching = client.watch(kind, options, (event) => {
        if (event.type === 'BOOKMARK') return;
        seen(event.object, event.type === 'DELETED');
        this.#check();
      });
      // Ends when the client is closed.
      watching.catch(() => undefined);
      await opened.promise;
    };
    await watch(DynamicEnv, ({ metadata: { name }, status }, isGone) => {
      const isReady = !isGone && (status as { state?: string } | undefined)?.state === 'ready';
      this.#ready[isReady ? 'add' : 'delete'](name);
      this.#known[isGone ? 'delete' : 'add'](name);
    });
    await watch(VirtualService, (service) => {
      const { http = [] } = (service['spec'] ?? {}) as { http?: readonly unknown[] };
      this.#versions.push({ routes: http.length, bytes: JSON.stringify(service).length });
    });
  }
}

if (import.meta.main) process.exit((await run()) ? 0 : 1);
