// Sends requests at a constant rate, whether they succeed or not, and counts where they land. `index.ts` runs it as a
// separate process: `node test/mesh/load/sender.ts PLAN`, a phase per line on standard input, the report on the output.
import { createInterface } from 'node:readline';
import { Connection } from './connection.ts';

/** Requests of one kind. */
export interface Flow {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly host: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Plan {
  /** Sent in turn. */
  readonly flows: readonly Flow[];
  readonly perSecond: number;
  /** Further requests wait. */
  readonly mostInFlight: number;
  /** Stops sending after so many. */
  readonly mostRequests: number;
}

/** The number of requests, by flow, phase in which they were sent, and image or failure. */
export interface Report {
  readonly sent: number;
  readonly seconds: number;
  readonly images: Counts;
  readonly failures: Counts;
}
export type Counts = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, number>>>>>>;

const TICK_MS = 5;

class Sender {
  readonly #plan: Plan;
  readonly #started = performance.now();
  readonly #idle = new Map<string, Connection[]>();
  readonly #images: Record<string, Record<string, Record<string, number>>> = {};
  readonly #failures: Record<string, Record<string, Record<string, number>>> = {};
  readonly #timer: NodeJS.Timeout;
  #sent = 0;
  #inFlight = 0;
  phase = '';

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Stops sending; resolves when all have been answered. */
  async stop(): Promise<Report> {
    clearInterval(this.#timer);
    const seconds = (performance.now() - this.#started) / 1000;
    while (this.#inFlight > 0) await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    for (const connection of [...this.#idle.values()].flat()) connection.close();
    return { sent: this.#sent, seconds, images: this.#images, failures: this.#failures };
  }

  #tick(): void {
    const { perSecond, mostInFlight, mostRequests } = this.#plan;
    const due = Math.min(((performance.now() - this.#started) / 1000) * perSecond, mostRequests);
    while (this.#sent < due && this.#inFlight < mostInFlight) this.#send();
  }

  #send(): void {
    const { flows } = this.#plan;
    const { name, address, port, host, headers = {} } = flows[this.#sent++ % flows.length]!;
    const lines = Object.entries({ host, ...headers }).map(([header, value]) => `${header}: ${value}\r\n`);
    const phase = this.phase;
    const at = `${address}:${port}`;
    const idle = this.#idle.get(at) ?? [];
    this.#idle.set(at, idle);
    let connection = idle.pop();
    while (connection?.isOpen === false) connection = idle.pop();
    const used = connection ?? new Connection(address, port);
    this.#inFlight++;
    used.send(`GET / HTTP/1.1\r\n${lines.join('')}\r\n`, (outcome) => {
      this.#inFlight--;
      if (used.isOpen) idle.push(used);
      if ('image' in outcome) count(this.#images, name, phase, outcome.image);
      else count(this.#failures, name, phase, outcome.failure);
    });
  }
}

function count(
  counts: Record<string, Record<string, Record<string, number>>>,
  ...[flow, phase, what]: [string, string, string]
): void {
  const ofPhase = ((counts[flow] ??= {})[phase] ??= {});
  ofPhase[what] = (ofPhase[what] ?? 0) + 1;
}

if (import.meta.main) {
  let sender: Sender | undefined;
  // Ends when standard input is closed, also because the parent process has died.
  for await (const phase of createInterface({ input: process.stdin })) {
    sender ??= new Sender(JSON.parse(process.argv[2]!) as Plan);
    sender.phase = phase;
    console.log(phase);
  }
  console.log(JSON.stringify(await sender?.stop()));
}
