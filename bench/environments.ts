// Measures the cost of an environment, and whether it grows with the number of unrelated environments and
// VirtualServices; and the memory of a control plane with a thousand environments.
import { defaultSettings } from '../src/environments/index.ts';
import { EnvironmentsWorld } from './environments-world.ts';
import type { Cost } from './control-plane.ts';
import { median, note, ratio, table, target } from './support.ts';

const SIZES = [10, 100, 1_000] as const;
const ROUNDS = 15;
const WARM_UPS = 5;
const FLEETING = 1_700;
/** They spend most of their time draining. */
const FLEETING_AT_ONCE = 100;

/** Returns true when all targets are met. */
export async function run(): Promise<boolean> {
  const worlds = await Promise.all(SIZES.map((size) => EnvironmentsWorld.start(size, WARM_UPS + ROUNDS)));
  try {
    const times = worlds.map((): number[] => []);
    const costs: Cost[] = [];
    for (let round = -WARM_UPS; round < ROUNDS; round++) {
      if (round === 0) await Promise.all(worlds.map((world) => world.cost()));
      // In turn, so that a slow phase of the machine affects all sizes.
      for (const [i, world] of worlds.entries()) {
        const ms = await world.makeOne(round + WARM_UPS);
        if (round >= 0) times[i]!.push(ms);
      }
    }
    for (const world of worlds) costs.push(await world.cost());
    return report(times, costs, await settlingTimes(), await costAfterMany());
  } finally {
    await Promise.all(worlds.map((world) => world.stop()));
  }
}

/** The times until environments are ready with default settings. */
async function settlingTimes(): Promise<number[]> {
  const world = await EnvironmentsWorld.start(SIZES[0], ROUNDS, 'environments-settling-worker.ts');
  try {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) times.push(await world.makeOne(round));
    return times;
  } finally {
    await world.stop();
  }
}

/** The cost of a control plane after many environments were created and deleted. */
async function costAfterMany(): Promise<Cost> {
  const world = await EnvironmentsWorld.start(0, FLEETING_AT_ONCE);
  try {
    await world.comeAndGo(FLEETING);
    return await world.cost();
  } finally {
    await world.stop();
  }
}

function report(
  times: readonly number[][],
  costs: readonly Cost[],
  settling: readonly number[],
  afterMany: Cost,
): boolean {
  const rows = SIZES.flatMap((size, i) => [
    note(`one to Ready beside ${size} others, rules need not settle`, median(times[i]!), ' ms'),
    note('  writes of the controller', costs[i]!.writes / ROUNDS, ''),
    note('  Events', costs[i]!.events / ROUNDS, ''),
    note('  all requests', costs[i]!.requests / ROUNDS, ''),
    note('  peak memory of the control plane', costs[i]!.peakMb, ' MB'),
  ]);
  const [least, most] = [costs.at(0)!, costs.at(-1)!];
  return table('environments', [
    ...rows,
    note(
      `one to Ready beside ${SIZES[0]} others, rules settle for ${defaultSettings.settleMs} ms`,
      median(settling),
      ' ms',
    ),
    // The route waits for the rule, and `ready` for the route. Times of objects are whole seconds.
    target('  the longest of them', Math.max(...settling), 2 * defaultSettings.settleMs + 1_500, 'atMost', ' ms'),
    target('time beside 1,000 others to beside 10', ratio(times.at(-1)!, times.at(0)!), 1.5, 'atMost'),
    target('requests beside 1,000 others to beside 10', most.requests / least.requests, 1.5, 'atMost'),
    target('  of them Events', most.events / most.requests, 0.2, 'atMost', ''),
    target('peak memory with 1,000 environments', most.peakMb, 300, 'atMost', ' MB'),
    note(`heap after ${FLEETING} came and went`, afterMany.heapMb, ' MB'),
    target('  memory then', afterMany.residentMb, 130, 'atMost', ' MB'),
    target('  the most until then', afterMany.peakMb, 150, 'atMost', ' MB'),
  ]);
}

if (import.meta.main) process.exit((await run()) ? 0 : 1);
