// Sends load to a mesh from a separate process, so that a busy test does not slow it down.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Flow, Plan, Report } from './sender.ts';

/** Starts a phase, in which all further requests are counted. The first phase starts the load. */
export type Phase = (name: string) => Promise<void>;

interface Options extends Partial<Omit<Plan, 'flows'>> {
  /** A command prefix that runs the sender elsewhere, such as in the network namespace of a pod. */
  readonly within?: readonly string[];
}

const program = fileURLToPath(new URL('./sender.ts', import.meta.url));

/** Runs `act` under load; resolves with the report once all requests have been answered. */
export async function underLoad(
  flows: readonly Flow[],
  { within = [], ...options }: Options,
  act: (phase: Phase) => Promise<void>,
): Promise<Report> {
  const plan: Plan = { flows, perSecond: 1_000, mostInFlight: 50, mostRequests: 1_000_000, ...options };
  const [command, ...args] = [...within, process.execPath, program, JSON.stringify(plan)];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the process that sends requests has ended');
    return value;
  };
  try {
    await act(async (name) => {
      child.stdin.write(`${name}\n`);
      await answer();
    });
    child.stdin.end();
    return JSON.parse(await answer()) as Report;
  } finally {
    child.kill();
  }
}
