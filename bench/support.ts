// Helpers for benchmarks: interleaved timing, medians, targets and the printed table.
import { setImmediate } from 'node:timers/promises';

// With --expose-gc, the garbage of one candidate is not collected in the time of another.
const collectYoung = (globalThis as { gc?: (options: { type: 'minor' }) => void }).gc?.bind(globalThis, {
  type: 'minor',
});

/** One line of a benchmark's table; `passed` is undefined on lines without a target. */
export interface Row {
  readonly name: string;
  readonly measured: string;
  readonly limit?: string;
  readonly passed?: boolean;
}

export function median(numbers: readonly number[]): number {
  if (numbers.length === 0) throw new RangeError('median needs at least one number');
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** A row with a target: passes when `measured` is at most or at least `limit`. */
export function target(name: string, measured: number, limit: number, side: 'atMost' | 'atLeast', unit = 'x'): Row {
  return {
    name,
    measured: `${readable(measured)}${unit}`,
    limit: `${side === 'atMost' ? 'at most' : 'at least'} ${readable(limit)}${unit}`,
    passed: side === 'atMost' ? measured <= limit : measured >= limit,
  };
}

/** A row without a target. */
export function note(name: string, measured: number, unit: string): Row {
  return { name, measured: `${readable(measured)}${unit}` };
}

/** Prints the rows under a title and returns whether all targets are met. */
export function table(title: string, rows: readonly Row[]): boolean {
  const cells = rows.map((row) => [
    row.passed === undefined ? '' : row.passed ? 'pass' : 'FAIL',
    row.name,
    row.measured,
    row.limit ?? '',
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((line) => line[column]!.length), 0));
  console.log(`\n${title}`);
  for (const [mark, name, measured, limit] of cells) {
    const line = [
      mark!.padEnd(widths[0]!),
      name!.padEnd(widths[1]!),
      measured!.padStart(widths[2]!),
      limit!.padEnd(widths[3]!),
    ];
    console.log(`  ${line.join('  ').trimEnd()}`);
  }
  return rows.every((row) => row.passed !== false);
}

/**
 * Runs every candidate once per round, in turn, and returns its times in milliseconds, one per round.
 * Interleaving makes a slow phase of the machine affect all candidates: compare them with `ratio`.
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
      // Work that a candidate left for later (promise reactions, timers) is not measured.
      await setImmediate();
      if (round >= 0) times[name].push(elapsed);
    }
  }
  return times;
}

export interface CpuTimed {
  readonly run: () => void;
  /** In milliseconds, one per round. */
  readonly times: () => readonly number[];
}

/** Measures CPU time, without warm-ups. Wall-clock time would include waiting for other processes. */
export function timedByCpu(run: () => void, warmUps: number): CpuTimed {
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

/** The median over rounds of the ratio of two times, so that noise within a round cancels out. */
export function ratio(times: readonly number[], baseline: readonly number[]): number {
  return median(times.map((time, round) => time / baseline[round]!));
}

function readable(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) || Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(2);
}
