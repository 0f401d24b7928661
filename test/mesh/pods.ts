// The pods of a cluster as HTTP servers on loopback: each answers with its identity and the request.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { Client } from '../../src/kube/client/client.ts';
import { systemClock } from '../../src/kube/clock.ts';
import { defineKind } from '../../src/kube/objects.ts';
import { runReflector } from '../../src/kube/tables/reflector.ts';
import { Table } from '../../src/kube/tables/table.ts';
import type { Pod as SimulatedPod } from '../../src/embedded/simulate/pods/pod-status.ts';
import { until } from '../support/until.ts';
import { POD_NETWORK } from './range.ts';

/** The port that every pod serves: the `targetPort` of its Services. */
export const POD_PORT = 8080;

/**
 * A deleted pod keeps answering until it had no request for QUIET_MS, as real pods do during their grace period, and
 * at most GRACE_MS. A fixed time would be too short on a busy machine, where proxies get updates late.
 */
const QUIET_MS = 2_000;
const GRACE_MS = 30_000;

/** What a pod answers with. */
export interface PodAnswer {
  readonly address: string;
  readonly pod: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly image: string;
  readonly method: string;
  readonly url: string;
  /** As received: names and values in turn. */
  readonly headers: readonly string[];
}

/** The addresses X.X.254.X of the pod network: reserved for `settled.ts`, no pod gets them. */
export const noPod = (number: number): string => `${POD_NETWORK}254.${number}`;
const isNoPod = (address: string): boolean => address.split('.')[2] === '254';

const Pod = defineKind<SimulatedPod>('v1', 'Pod', 'pods');

/** Runs a server for each pod of a cluster. */
export class PodServers {
  readonly #prefix: string;
  readonly #table = new Table(Pod);
  readonly #end = new AbortController();
  readonly #servers = new Map<string, Promise<Server>>();
  readonly #byAddress = new Map<string, SimulatedPod>();
  /** When each address got its last request. */
  readonly #lastRequest = new Map<string, number>();
  readonly #following: Promise<unknown>;

  constructor(client: Client, prefix: string) {
    this.#prefix = prefix;
    const onError = (error: unknown): void => console.error(`watching pods: ${String(error)}`);
    const { signal } = this.#end;
    this.#following = Promise.all([
      this.#follow(signal),
      runReflector({ client, table: this.#table, clock: systemClock, signal, onError }),
    ]);
  }

  /** Starts a server at an address; resolves when it listens. */
  async serve(address: string): Promise<void> {
    let server = this.#servers.get(address);
    if (server === undefined) {
      server = this.#listen(address);
      this.#servers.set(address, server);
    }
    await server;
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#following;
    await Promise.all([...this.#servers.keys()].map((address) => this.#close(address)));
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const { updates } of this.#table.map.subscribe({ signal, state: false })) {
      for (const { delete: isGone, value: pod } of updates) {
        const address = pod.status?.podIP?.replace(POD_NETWORK, this.#prefix);
        if (address === undefined) continue;
        if (isGone) this.#closeWhenQuiet(address, performance.now());
        else this.#byAddress.set(address, pod);
      }
    }
  }

  #closeWhenQuiet(address: string, gone: number): void {
    const timer = setInterval(() => {
      const now = performance.now();
      const isQuiet = now - Math.max(gone, this.#lastRequest.get(address) ?? 0) > QUIET_MS;
      if (!isQuiet && now - gone < GRACE_MS) return;
      clearInterval(timer);
      void this.#close(address);
    }, 100).unref();
  }

  async #listen(address: string): Promise<Server> {
    // No idle timeout: the server could close a connection just when a request is in flight.
    const server = createServer({ keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 }, (incoming, response) => {
      this.#answer(address, incoming, response).catch((error: unknown) =>
        response.writeHead(500).end(`nobody knows the pod at ${address}: ${String(error)}`),
      );
    });
    server.listen(POD_PORT, address);
    await once(server, 'listening');
    return server;
  }

  async #answer(address: string, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    incoming.resume();
    this.#lastRequest.set(address, performance.now());
    if (isNoPod(address)) {
      response.writeHead(200, { 'content-length': 0, 'x-address': address }).end();
      return;
    }
    // istiod may have seen the pod before our own watch.
    if (!this.#byAddress.has(address)) await until(() => this.#byAddress.has(address));
    const { metadata, spec } = this.#byAddress.get(address)!;
    const answer: PodAnswer = {
      address,
      pod: metadata.name,
      namespace: metadata.namespace!,
      labels: metadata.labels ?? {},
      image: spec.containers[0]?.image ?? '',
      method: incoming.method!,
      url: incoming.url!,
      headers: incoming.rawHeaders,
    };
    const body = Buffer.from(`${JSON.stringify(answer)}\n`);
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': body.length, 'x-image': answer.image })
      .end(incoming.method === 'HEAD' ? undefined : body);
  }

  async #close(address: string): Promise<void> {
    const server = await this.#servers.get(address);
    this.#servers.delete(address);
    this.#byAddress.delete(address);
    this.#lastRequest.delete(address);
    server?.close();
    server?.closeAllConnections();
  }
}
