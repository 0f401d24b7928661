// Measures the controller loop: latency from event to plan, plans per second, and how both grow with the keys.
import { setImmediate } from 'node:timers/promises';
import { createLogger, createMetrics, defineController } from '../src/controller/index.ts';
import { Controller } from '../src/controller/controller.ts';
import type { Client } from '../src/kube/client/client.ts';
import { systemClock } from '../src/kube/clock.ts';
import { byLabel } from '../src/kube/tables/object-index.ts';
import { defineKind } from '../src/kube/objects.ts';
import type { KubeObject } from '../src/kube/objects.ts';
import { defineTable, Tables } from '../src/kube/tables/tables.ts';
import { median, note, table, target } from './support.ts';

interface Part extends KubeObject {
  readonly spec: { readonly value: number };
}
const Whole = defineKind<KubeObject>('bench.dev/v1', 'Whole', 'wholes');
const Part = defineKind<Part>('bench.dev/v1', 'Part', 'parts');

const PARTS_OF_A_WHOLE = 10;
/** So few that what they read fits into the processor's cache, however many others there are. */
const FEW = 100;
/** The measured loop makes no API calls. */
const noClient = { flow: () => noClient } as unknown as Client;

/** A controller of `keys` objects, each of which reads ten more through an index. Events are sent directly. */
class World {
  readonly tables = new Tables([Whole, defineTable(Part, { indexes: { whole: byLabel('whole') } })]);
  readonly keys: number;
  readonly controller: Controller;
  planned = 0;
  onPlan: (name: string) => void = () => {};
  #version = 0;

  constructor(keys: number) {
    this.keys = keys;
    const definition = defineController<KubeObject>({
      name: 'bench',
      kind: Whole,
      plan: (view, { metadata: { name } }) => {
        this.planned++;
        let sum = 0;
        for (const part of view.index(Part, 'whole', name)) sum += part.spec.value;
        this.onPlan(name);
        return { requeueAfterMs: sum < 0 ? 1 : undefined };
      },
    });
    this.controller = new Controller({
      definition,
      client: noClient,
      tables: this.tables,
      clock: systemClock,
      logger: createLogger({ level: 'silent' }),
      metrics: createMetrics().controller('bench'),
      events: { record: () => {} } as never,
    });
    const wholes = Array.from({ length: keys }, (_none, i) => this.#object('Whole', `w${i}`));
    this.tables.of(Whole).replaceAll(wholes, '1');
    const parts = wholes.flatMap((_whole, i) =>
      Array.from({ length: PARTS_OF_A_WHOLE }, (_other, j) => this.part(i, j)),
    );
    this.tables.of(Part).replaceAll(parts, '2');
  }

  part(whole: number, part: number): Part {
    return { ...this.#object('Part', `w${whole}-${part}`, { whole: `w${whole}` }), spec: { value: this.#version } };
  }

  change(whole: number): void {
    this.tables.of(Part).event({ type: 'MODIFIED', object: this.part(whole, whole % PARTS_OF_A_WHOLE) });
  }

  async idle(): Promise<void> {
    while (!this.controller.idle) await setImmediate();
  }

  #object(kind: string, name: string, labels: Record<string, string> = {}): KubeObject {
    const resourceVersion = String(10 + ++this.#version);
    return {
      apiVersion: 'bench.dev/v1',
      kind,
      metadata: { name, namespace: 'n', uid: `${kind}-${name}`, resourceVersion, labels },
    };
  }
}

/**
 * Sends one event per turn of the event loop, for the first `among` keys; returns the sorted latencies
 * from event to plan in milliseconds.
 */
async function latencies(world: World, events: number, among = world.keys): Promise<number[]> {
  const sent = new Map<string, number>();
  const times: number[] = [];
  world.onPlan = (name) => {
    const at = sent.get(name);
    if (at === undefined) return;
    sent.delete(name);
    times.push(performance.now() - at);
  };
  for (let i = 0; i < events; i++) {
    const whole = (i * 7919) % among;
    if (!sent.has(`w${whole}`)) sent.set(`w${whole}`, performance.now());
    world.change(whole);
    await setImmediate();
  }
  await world.idle();
  world.onPlan = () => {};
  return times.sort((a, b) => a - b);
}

async function plansPerSecond(world: World): Promise<number> {
  const before = world.planned;
  const started = performance.now();
  while (performance.now() - started < 500) {
    for (let whole = 0; whole < world.keys; whole++) world.change(whole);
    await world.idle();
  }
  return ((world.planned - before) / (performance.now() - started)) * 1000;
}

function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]!;
}

/** Returns true when all targets are met. */
export async function run(): Promise<boolean> {
  const p50: Record<number, number[]> = {};
  const fewP50: Record<number, number[]> = {};
  const p99: Record<number, number[]> = {};
  const rates: Record<number, number[]> = {};
  const sizes = [100, 1_000, 10_000];
  for (const keys of sizes) {
    const world = new World(keys);
    world.controller.start();
    await world.idle();
    await latencies(world, 2_000);
    for (let round = 0; round < 3; round++) {
      const times = await latencies(world, 5_000);
      (p50[keys] ??= []).push(quantile(times, 0.5));
      (p99[keys] ??= []).push(quantile(times, 0.99));
      (fewP50[keys] ??= []).push(quantile(await latencies(world, 5_000, FEW), 0.5));
      (rates[keys] ??= []).push(await plansPerSecond(world));
    }
    await world.controller.stop();
  }
  const growth = median(fewP50[10_000]!) / median(fewP50[1_000]!);
  const rows = sizes.flatMap((keys) => [
    note(`${keys} keys, ${keys * PARTS_OF_A_WHOLE} objects: event to plan, median`, median(p50[keys]!) * 1000, ' µs'),
    note(`${keys} keys: event to plan, p99`, median(p99[keys]!) * 1000, ' µs'),
    note(`${keys} keys: plans a second`, median(rates[keys]!), ''),
  ]);
  return table('controller loop', [
    ...rows,
    target('1,000 keys, 10,000 objects: event to plan, p99', median(p99[1_000]!), 10, 'atMost', ' ms'),
    target(`event to plan for the same ${FEW} keys, median, 10,000 keys against 1,000`, growth, 1.5, 'atMost'),
    target('plans a second with 1,000 keys', median(rates[1_000]!), 5_000, 'atLeast', ''),
  ]);
}

if (import.meta.main) process.exit((await run()) ? 0 : 1);
