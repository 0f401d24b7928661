// Measures the embedded cluster on disk against etcd and kube-apiserver: the same client, the same requests, in turn.
import { execFileSync } from 'node:child_process';
import { findBinaries } from '../test/cluster/binaries.ts';
import { bundleCli, startEmbedded, startReal } from './embedded-servers.ts';
import type { Server } from './embedded-servers.ts';
import * as tasks from './embedded-tasks.ts';
import { interleave, median, note, ratio, table, target } from './support.ts';
import type { Row } from './support.ts';

const STARTS = 3;
const SINGLE = 200;
const IDLE_WATCHES = 2_000;

interface Both {
  readonly ours: Server;
  readonly real: Server;
}

/** Runs the benchmark and prints its tables; true when every target is met. */
export async function run(): Promise<boolean> {
  const binaries = findBinaries();
  if ('missing' in binaries) {
    console.log(`\nembedded: not measured, ${binaries.missing}`);
    return true;
  }
  const cli = await bundleCli();
  try {
    const started = await measureStarts(cli.main);
    const both = { ours: await startEmbedded(cli.main), real: await startReal() };
    try {
      return [started, await measureRequests(both), await measureIdleWatches(both.ours)].every(Boolean);
    } finally {
      await Promise.all([both.ours.stop(), both.real.stop()]);
    }
  } finally {
    cli.remove();
  }
}

async function measureStarts(main: string): Promise<boolean> {
  const times: Record<keyof Both, number[]> = { ours: [], real: [] };
  const equipped: number[] = [];
  for (let round = 0; round < STARTS; round++) {
    for (const [name, start] of [
      ['ours', () => startEmbedded(main)],
      ['real', startReal],
    ] as const) {
      const server = await start();
      times[name].push(server.startMs);
      if (server.equippedMs !== undefined) equipped.push(server.equippedMs);
      await server.stop();
    }
  }
  return table('embedded: from process start to ready, on a new data directory', [
    note('etcd and kube-apiserver', median(times.real), ' ms'),
    target('embedded', median(times.ours), 400, 'atMost', ' ms'),
    target('etcd and kube-apiserver / embedded', ratio(times.real, times.ours), 10, 'atLeast'),
    note('embedded, with the kinds of the product and the mesh', median(equipped), ' ms'),
  ]);
}

async function measureRequests(both: Both): Promise<boolean> {
  const { ours, real } = both;
  const filled = { real: await tasks.fill(real.client), ours: await tasks.fill(ours.client) };
  const afterFilling = rssMb(ours.pid!);
  const rows: Row[] = [
    note(`${tasks.OBJECTS} creates, 64 at a time: embedded, each`, (filled.ours / tasks.OBJECTS) * 1000, ' µs'),
    target('kube-apiserver / embedded', filled.real / filled.ours, 1, 'atLeast'),
  ];
  const compare = async (
    name: string,
    perRound: number,
    wanted: number,
    task: (server: Server) => Promise<void>,
    rounds = 7,
  ): Promise<void> => {
    const times = await interleave(rounds, { real: () => task(real), ours: () => task(ours) }, 1);
    rows.push(
      note(
        `${name}: embedded, each`,
        (median(times.ours) / perRound) * (perRound > 1 ? 1000 : 1),
        perRound > 1 ? ' µs' : ' ms',
      ),
      target('kube-apiserver / embedded', ratio(times.real, times.ours), wanted, 'atLeast'),
    );
  };
  await compare('create', SINGLE, 1, ({ client }) => tasks.creates(client, SINGLE));
  await compare('get', SINGLE, 3, ({ client }) => tasks.gets(client, SINGLE));
  await compare('merge patch', SINGLE, 1, ({ client }) => tasks.mergePatches(client, SINGLE));
  await compare('server-side apply', SINGLE, 1, ({ client }) => tasks.applies(client, SINGLE));
  await compare(`list of ${tasks.OBJECTS}, pages of 500`, 1, 1, ({ client }) => tasks.list(client, 500), 5);
  await compare(`list of ${tasks.OBJECTS}, whole`, 1, 1, ({ client }) => tasks.list(client), 5);
  const watchers = { real: await tasks.openWatchers(real.client), ours: await tasks.openWatchers(ours.client) };
  await compare(
    `${tasks.EVENTS} events to ${tasks.WATCHERS} watchers`,
    1,
    3,
    (server) => (server === ours ? watchers.ours : watchers.real).fanOut(),
    5,
  );
  watchers.real.close();
  watchers.ours.close();
  return table('embedded: requests, against etcd and kube-apiserver', [
    ...rows,
    target(`memory with ${tasks.OBJECTS} objects of 1 KB`, afterFilling, 250, 'atMost', ' MB'),
    note('memory after all of the above', rssMb(ours.pid!), ' MB'),
  ]);
}

async function measureIdleWatches({ client }: Server): Promise<boolean> {
  const rounds = 9;
  const alone = await interleave(rounds, { gets: () => tasks.gets(client, SINGLE) });
  const close = await tasks.openIdleWatches(client, IDLE_WATCHES);
  const crowded = await interleave(rounds, { gets: () => tasks.gets(client, SINGLE) });
  close();
  return table('embedded: idle watches', [
    note('get with none', (median(alone.gets) / SINGLE) * 1000, ' µs'),
    target(`get with ${IDLE_WATCHES} idle watches / with none`, median(crowded.gets) / median(alone.gets), 2, 'atMost'),
  ]);
}

/** The memory that a process occupies. */
function rssMb(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;
}

if (import.meta.main) process.exit((await run()) ? 0 : 1);
