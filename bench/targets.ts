// Measures the cost of a claim when many are created and deleted at once: whether time and requests per claim grow with
// their number, and whether each claim gets exactly one target.
import type { Cost } from './control-plane.ts';
import { note, table, target } from './support.ts';
import type { Row } from './support.ts';
import { TargetsWorld } from './targets-world.ts';

const SIZES = [50, 100, 500] as const;
const WARM_UP = 50;
const MOST_GROWTH = 1.2;
const PROVISIONERS = { sandbox: 'appstudio.redhat.com/devsandbox', namespace: 'offshoot.dev/namespace' } as const;

/** The cost per claim. */
interface Measured {
  readonly ms: number;
  readonly cost: Cost;
  readonly clusterCpuMs: number;
  /** The cost of deleting them. */
  readonly end: { readonly ms: number; readonly cost: Cost };
  /** Claims that do not have exactly one target. */
  readonly unpaired: number;
}

/** Returns true when all targets are met. */
export async function run(): Promise<boolean> {
  const passed: boolean[] = [];
  for (const [name, provisioner] of Object.entries(PROVISIONERS)) {
    const measured: Measured[] = [];
    for (const size of SIZES) measured.push(await measure(provisioner, size));
    passed.push(
      table(`claims at once, ${name} provisioner`, report(measured, await growthOfTime(provisioner, measured))),
    );
  }
  return passed.every(Boolean);
}

/**
 * The ratio of the time per claim, with the most and with the fewest claims. Measures again if it is too high, because
 * the machine may have been busy; a problem in the code would show again.
 */
async function growthOfTime(provisioner: string, measured: readonly Measured[]): Promise<number> {
  const growth = measured.at(-1)!.ms / measured.at(0)!.ms;
  if (growth <= MOST_GROWTH) return growth;
  const [few, many] = [await measure(provisioner, SIZES.at(0)!), await measure(provisioner, SIZES.at(-1)!)];
  return Math.min(growth, many.ms / few.ms);
}

async function measure(provisioner: string, size: number): Promise<Measured> {
  const world = await TargetsWorld.start(provisioner);
  try {
    await world.claim('warm', WARM_UP);
    await world.cost();
    await world.clusterCpuMs();
    const ms = await world.claim('many', size);
    const cost = each(await world.cost(), size);
    const clusterCpuMs = (await world.clusterCpuMs()) / size;
    const unpaired = await world.unpaired('many', size);
    const endMs = await world.release('many', size);
    const end = { ms: endMs / size, cost: each(await world.cost(), size) };
    return { ms: ms / size, cost, clusterCpuMs, end, unpaired };
  } finally {
    await world.stop();
  }
}

function each(cost: Cost, size: number): Cost {
  const { requests, writes, events, cpuMs } = cost;
  return { ...cost, requests: requests / size, writes: writes / size, events: events / size, cpuMs: cpuMs / size };
}

function report(measured: readonly Measured[], growthOfMs: number): Row[] {
  const [least, most] = [measured.at(0)!, measured.at(-1)!];
  const growth = `for each of ${SIZES.at(-1)} to each of ${SIZES[0]}`;
  return [
    ...SIZES.flatMap((size, i) => {
      const { ms, cost, clusterCpuMs, end, unpaired } = measured[i]!;
      return [
        note(`${size} at once: each until bound`, ms, ' ms'),
        note('  writes of the controllers', cost.writes, ''),
        note('  Events', cost.events, ''),
        note('  reads', cost.requests - cost.writes - cost.events, ''),
        note('  CPU time of the control plane', cost.cpuMs, ' ms'),
        note('  CPU time of the cluster', clusterCpuMs, ' ms'),
        note('  until gone again', end.ms, ' ms'),
        note('  writes for that', end.cost.writes, ''),
        note('  CPU time for that', end.cost.cpuMs, ' ms'),
        note('  peak memory of the control plane', end.cost.peakMb, ' MB'),
        target('  not paired one to one', unpaired, 0, 'atMost', ''),
      ];
    }),
    target(`time ${growth}`, growthOfMs, MOST_GROWTH, 'atMost'),
    target(`CPU time of the cluster ${growth}`, most.clusterCpuMs / least.clusterCpuMs, MOST_GROWTH, 'atMost'),
    target(`CPU time of the control plane ${growth}`, most.cost.cpuMs / least.cost.cpuMs, MOST_GROWTH, 'atMost'),
    target(`requests ${growth}`, most.cost.requests / least.cost.requests, MOST_GROWTH, 'atMost'),
    target('CPU time for taking back', most.end.cost.cpuMs / least.end.cost.cpuMs, MOST_GROWTH, 'atMost'),
    target('requests for taking back', most.end.cost.requests / least.end.cost.requests, MOST_GROWTH, 'atMost'),
  ];
}

if (import.meta.main) process.exit((await run()) ? 0 : 1);
