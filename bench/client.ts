// Compares the Kubernetes client with @kubernetes/client-node: lists, small reads and watches over TLS, each client in
// its own process.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Candidate, Cost, Order, Task } from './client-worker.ts';
import type { Address } from './fake-server.ts';
import { median, note, table, target } from './support.ts';

type Workers = Readonly<Record<Candidate, ChildProcess>>;

/** Runs the benchmark and prints its tables; returns true when all targets are met. */
export async function run(): Promise<boolean> {
  const server = start('fake-server.ts');
  const workers: Workers = {
    ours: start('client-worker.ts'),
    table: start('client-worker.ts'),
    clientNode: start('client-worker.ts'),
    bare: start('client-worker.ts'),
  };
  try {
    const address = await nextMessage<Address>(server);
    const list = await interleaved(workers, address, 'list', ['ours', 'clientNode'], 9);
    const gets = await interleaved(workers, address, 'gets', ['ours', 'clientNode'], 5);
    const watch = await interleaved(workers, address, 'watch', ['ours', 'table', 'clientNode', 'bare'], 7);
    return [
      table('client: list of 10,000 pods of 5 KB', [
        note('ours, pages of 500', list.ours.ms, ' ms'),
        note('client-node', list.clientNode.ms, ' ms'),
        target('client-node / ours, time', list.clientNode.ms / list.ours.ms, 2, 'atLeast'),
        note('ours, longest stall', list.ours.stallMs, ' ms'),
        target('ours / client-node, longest stall', list.ours.stallMs / list.clientNode.stallMs, 0.2, 'atMost'),
      ]),
      table('client: 300 small reads, one after the other', [
        note('ours, each', gets.ours.ms / 300, ' ms'),
        target('client-node / ours, time', gets.clientNode.ms / gets.ours.ms, 5, 'atLeast'),
      ]),
      table('client: watch of 50,000 events of 5 KB, objects kept in a map', [
        note('ours, each', (watch.ours.cpuMs * 1000) / 50_000, ' µs CPU'),
        target('client-node informer / ours, CPU', watch.clientNode.cpuMs / watch.ours.cpuMs, 2, 'atLeast'),
        note(
          'client-node informer / our table, with a list, frozen objects and a listener, CPU',
          watch.clientNode.cpuMs / watch.table.cpuMs,
          'x',
        ),
        // Parsing JSON is most of the work of every client, so this is the upper limit of what a client can gain.
        note('client-node informer / bare https and JSON.parse, CPU', watch.clientNode.cpuMs / watch.bare.cpuMs, 'x'),
        note('ours / bare https and JSON.parse, CPU', watch.ours.cpuMs / watch.bare.cpuMs, 'x'),
      ]),
    ].every(Boolean);
  } finally {
    for (const child of [server, ...Object.values(workers)]) child.disconnect();
  }
}

const WARM_UPS = 2;

/** The medians over rounds, in each of which all candidates run in turn. */
async function interleaved<Name extends Candidate>(
  workers: Workers,
  address: Address,
  task: Task,
  candidates: readonly Name[],
  rounds: number,
): Promise<Readonly<Record<Name, Cost>>> {
  const costs = new Map<Name, Cost[]>(candidates.map((name) => [name, []]));
  for (let round = -WARM_UPS; round < rounds; round++) {
    for (const candidate of candidates) {
      workers[candidate].send({ candidate, address, task } satisfies Order);
      const cost = await nextMessage<Cost>(workers[candidate]);
      if (round >= 0) costs.get(candidate)!.push(cost);
    }
  }
  return Object.fromEntries(candidates.map((name) => [name, medianCost(costs.get(name)!)])) as Record<Name, Cost>;
}

function medianCost(costs: readonly Cost[]): Cost {
  return {
    ms: median(costs.map(({ ms }) => ms)),
    cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
    stallMs: median(costs.map(({ stallMs }) => stallMs)),
  };
}

function start(file: string): ChildProcess {
  return fork(path.join(import.meta.dirname, file), { execArgv: ['--expose-gc'] });
}

async function nextMessage<T>(child: ChildProcess): Promise<T> {
  const ended = new AbortController();
  const { signal } = ended;
  const failed = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`a process of the benchmark ended with ${String(code)}`);
  });
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal }), failed])) as [T];
    return message;
  } finally {
    failed.catch(() => undefined);
    ended.abort();
  }
}

if (import.meta.main) process.exitCode = (await run()) ? 0 : 1;
