// What a claim costs when many are made at once: whether time and requests for each of them grow with their number, and
// whether each gets exactly one target.
import type { Cost } from './control-plane.ts';
import { note, table, target } from './support.ts';
import type { Row } from './support.ts';
import { TargetsWorld } from './targets-world.ts';

const SIZES = [50, 100, 500] as const;
const WARM_UP = 50;
const PROVISIONERS = { sandbox: 'appstudio.redhat.com/devsandbox', namespace: 'offshoot.dev/namespace' } as const;

/** What a number of claims at once have cost, each. */
interface Measured {
  readonly ms: number;
  readonly cost: Cost;
  /** Claims that have not exactly one target, and targets that are not for exactly one claim. */
  readonly unpaired: number;
}

/** True when every target is met. */
export async function run(): Promise<boolean> {
  const passed: boolean[] = [];
  for (const [name, provisioner] of Object.entries(PROVISIONERS)) {
    const measured: Measured[] = [];
    for (const size of SIZES) measured.push(await measure(provisioner, size));
    passed.push(table(`claims at once, ${name} provisioner`, report(measured)));
  }
  return passed.every(Boolean);
}

async function measure(provisioner: string, size: number): Promise<Measured> {
  const world = await TargetsWorld.start(provisioner);
  try {
    await world.claim('warm', WARM_UP);
    await world.cost();
    const ms = await world.claim('many', size);
    const cost = await world.cost();
    return { ms: ms / size, cost: each(cost, size), unpaired: await world.unpaired('many', size) };
  } finally {
    await world.stop();
  }
}

function each({ requests, writes, events, cpuMs, peakMb }: Cost, size: number): Cost {
  return { requests: requests / size, writes: writes / size, events: events / size, cpuMs: cpuMs / size, peakMb };
}

function report(measured: readonly Measured[]): Row[] {
  const [least, most] = [measured.at(0)!, measured.at(-1)!];
  const growth = `for each of ${SIZES.at(-1)} to each of ${SIZES[0]}`;
  return [
    ...SIZES.flatMap((size, i) => {
      const { ms, cost, unpaired } = measured[i]!;
      return [
        note(`${size} at once: each until bound`, ms, ' ms'),
        note('  writes of the controllers', cost.writes, ''),
        note('  Events', cost.events, ''),
        note('  reads', cost.requests - cost.writes - cost.events, ''),
        note('  CPU time of the control plane', cost.cpuMs, ' ms'),
        note('  peak memory of the control plane', cost.peakMb, ' MB'),
        target('  not paired one to one', unpaired, 0, 'atMost', ''),
      ];
    }),
    target(`time ${growth}`, most.ms / least.ms, 1.2, 'atMost'),
    target(`CPU time ${growth}`, most.cost.cpuMs / least.cost.cpuMs, 1.2, 'atMost'),
    target(`requests ${growth}`, most.cost.requests / least.cost.requests, 1.2, 'atMost'),
  ];
}

if (import.meta.main) process.exit((await run()) ? 0 : 1);
