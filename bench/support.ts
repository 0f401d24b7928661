// What every benchmark shares: interleaved timing, medians, targets and the printed table.
import { setImmediate } from 'node:timers/promises';

// With --expose-gc, the garbage of one candidate is not collected in another one's time.
const collectYoung = (globalThis as { gc?: (options: { type: 'minor' }) => void }).gc?.bind(globalThis, {
  type: 'minor',
});

/** One line of a benchmark's table; `passed` is absent on lines that only inform. */
export interface Row {
  readonly name: string;
  readonly measured: string;
  readonly wanted?: string;
  readonly passed?: boolean;
}

/** The middle of the given numbers (the mean of the middle two when their count is even). */
export function median(numbers: readonly number[]): number {
  if (numbers.length === 0) throw new RangeError('median needs at least one number');
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** A row that passes when `measured` is on the right side of `limit`. */
export function target(name: string, measured: number, limit: number, side: 'atMost' | 'atLeast', unit = 'x'): Row {
  return {
    name,
    measured: `${readable(measured)}${unit}`,
    wanted: `${side === 'atMost' ? 'at most' : 'at least'} ${readable(limit)}${unit}`,
    passed: side === 'atMost' ? measured <= limit : measured >= limit,
  };
}

/** A row that states a measurement without judging it. */
export function note(name: string, measured: number, unit: string): Row {
  return { name, measured: `${readable(measured)}${unit}` };
}

/** Prints the rows under a title and returns whether every target among them is met. */
export function table(title: string, rows: readonly Row[]): boolean {
  const cells = rows.map((row) => [
    row.passed === undefined ? '' : row.passed ? 'pass' : 'FAIL',
    row.name,
    row.measured,
    row.wanted ?? '',
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((line) => line[column]!.length), 0));
  console.log(`\n${title}`);
  for (const [mark, name, measured, wanted] of cells) {
    const line = [
      mark!.padEnd(widths[0]!),
      name!.padEnd(widths[1]!),
      measured!.padStart(widths[2]!),
      wanted!.padEnd(widths[3]!),
    ];
    console.log(`  ${line.join('  ').trimEnd()}`);
  }
  return rows.every((row) => row.passed !== false);
}

/**
 * Runs every candidate once a round, in turn, and returns each one's times in milliseconds, one a round.
 * Interleaving makes a slow moment of the machine hit all candidates alike: compare them with `ratio`.
 */
export async function interleave<Name extends string>(
  rounds: number,
  candidates: Readonly<Record<Name, () => void | Promise<void>>>,
  warmUps = 2,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(candidates) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = -warmUps; round < rounds; round++) {
    for (const name of names) {
      collectYoung?.();
      const started = performance.now();
      const unfinished = candidates[name]();
      if (unfinished !== undefined) await unfinished;
      const elapsed = performance.now() - started;
      // What a candidate left for later (promise reactions, timers) is nobody's measured time.
      await setImmediate();
      if (round >= 0) times[name].push(elapsed);
    }
  }
  return times;
}

export interface OnProcessor {
  readonly run: () => void;
  /** In milliseconds, one a round. */
  readonly times: () => readonly number[];
}

/** Measures the time of the processor, without the rounds for warming up: others make what takes longer wait more often. */
export function onProcessor(run: () => void, warmUps: number): OnProcessor {
  const times: number[] = [];
  return {
    times: () => times.slice(warmUps),
    run() {
      const since = process.cpuUsage();
      run();
      const { user, system } = process.cpuUsage(since);
      times.push((user + system) / 1_000);
    },
  };
}

/** How many times as long the first took as the second: the median over rounds, so that noise cancels within a round. */
export function ratio(times: readonly number[], baseline: readonly number[]): number {
  return median(times.map((time, round) => time / baseline[round]!));
}

function readable(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) || Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(2);
}
