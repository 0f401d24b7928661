// Compares the embedded cluster on disk with etcd and kube-apiserver: the same client, the same requests, in turn.
import { kubernetes } from '../test/programs/kubernetes.ts';
import { findPrograms } from '../test/programs/programs.ts';
import { makePackage, residentMb, startEmbedded, startReal, timeOfApiStart } from './embedded-servers.ts';
import type { Package, Server } from './embedded-servers.ts';
import * as tasks from './embedded-tasks.ts';
import { interleave, median, note, ratio, table, target } from './support.ts';
import type { Row } from './support.ts';

const STARTS = 5;
const SINGLE = 200;
const IDLE_WATCHES = 2_000;

interface Both {
  readonly ours: Server;
  readonly real: Server;
}

/** Runs the benchmark and prints its tables; returns true when all targets are met. */
export async function run(): Promise<boolean> {
  const binaries = findPrograms(kubernetes);
  if ('missing' in binaries) {
    console.log(`\nembedded: not measured, ${binaries.missing}`);
    return true;
  }
  const made = await makePackage();
  try {
    const started = await measureStarts(made);
    const both = { ours: await startEmbedded(made, false), real: await startReal() };
    try {
      return [started, await measureRequests(both), await measureIdleWatches(both.ours)].every(Boolean);
    } finally {
      await Promise.all([both.ours.stop(), both.real.stop()]);
    }
  } finally {
    made.remove();
  }
}

async function measureStarts(made: Package): Promise<boolean> {
  const timed = async (start: () => Promise<Server>): Promise<number> => {
    const server = await start();
    await server.stop();
    return server.startMs;
  };
  // Later starts use the compile cache of the first one.
  const first = await timed(() => startEmbedded(made, true));
  const times = { api: [] as number[], up: [] as number[], alone: [] as number[], real: [] as number[] };
  for (let round = 0; round < STARTS; round++) {
    times.api.push(await timeOfApiStart(made));
    times.up.push(await timed(() => startEmbedded(made, true)));
    times.alone.push(await timed(() => startEmbedded(made, false)));
    times.real.push(await timed(startReal));
  }
  return table('embedded: from process start to ready, on a new data directory', [
    note('etcd and kube-apiserver', median(times.real), ' ms'),
    target('embedded API server', median(times.api), 400, 'atMost', ' ms'),
    target('etcd and kube-apiserver / embedded API server', ratio(times.real, times.api), 10, 'atLeast'),
    note('offshoot up', median(times.up), ' ms'),
    target('etcd and kube-apiserver / offshoot up', ratio(times.real, times.up), 10, 'atLeast'),
    note('offshoot up --no-controllers', median(times.alone), ' ms'),
    note('offshoot up, the first time ever', first, ' ms'),
  ]);
}

async function measureRequests(both: Both): Promise<boolean> {
  const { ours, real } = both;
  const filled = { real: await tasks.fill(real.client), ours: await tasks.fill(ours.client) };
  const afterFilling = residentMb(ours);
  const rows: Row[] = [
    note(`${tasks.OBJECTS} creates, 64 at a time: embedded, each`, (filled.ours / tasks.OBJECTS) * 1000, ' µs'),
    target('kube-apiserver / embedded', filled.real / filled.ours, 1, 'atLeast'),
  ];
  const compare = async (
    name: string,
    perRound: number,
    minRatio: number,
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
      target('kube-apiserver / embedded', ratio(times.real, times.ours), minRatio, 'atLeast'),
    );
  };
  await compare('create', SINGLE, 1, ({ client }) => tasks.creates(client, SINGLE));
  await compare('get', SINGLE, 3, ({ client }) => tasks.gets(client, SINGLE));
  await compare('merge patch', SINGLE, 1, ({ client }) => tasks.mergePatches(client, SINGLE));
  await compare('server-side apply', SINGLE, 1, ({ client }) => tasks.applies(client, SINGLE));
  await compare(`list of ${tasks.OBJECTS}, pages of 500`, 1, 1, ({ client }) => tasks.list(client, 500), 5);
  await compare(`list of ${tasks.OBJECTS}, whole`, 1, 1, ({ client }) => tasks.list(client), 5);
  // Our client parses events: a hundred of them in one thread are slower than the server, so that target is low.
  for (const [watching, who, minRatio] of [
    ['lines', 'who only count them', 3],
    ['client', 'through our client', 1],
  ] as const) {
    const watchers = { real: await tasks.openWatchers(real, watching), ours: await tasks.openWatchers(ours, watching) };
    await compare(
      `${tasks.EVENTS} events to ${tasks.WATCHERS} watchers ${who}`,
      1,
      minRatio,
      (server) => (server === ours ? watchers.ours : watchers.real).fanOut(),
      5,
    );
    watchers.real.close();
    watchers.ours.close();
  }
  return table('embedded: requests, against etcd and kube-apiserver', [
    ...rows,
    target(`memory with ${tasks.OBJECTS} objects of 1 KB`, afterFilling, 250, 'atMost', ' MB'),
    note('memory after all of the above', residentMb(ours), ' MB'),
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

if (import.meta.main) process.exit((await run()) ? 0 : 1);
