// Sends an HTTP request through a proxy of the mesh.
import { request } from 'node:http';
import type { Agent, IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { PodAnswer } from './pods.ts';

export interface Question {
  /** The Host header: the name of the service. */
  readonly host: string;
  readonly port?: number;
  readonly path?: string;
  readonly method?: string;
  /** Sent as they are: names keep their case and may repeat. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The answer of the pod; undefined if the proxy itself answered. */
  readonly pod: PodAnswer | undefined;
}

const DEADLINE_MS = 10_000;

/** Sends a request to an address. Rejects if there is no response. */
export async function ask(address: string, question: Question, agent: Agent): Promise<Answer> {
  const { host, port, path = '/', method = 'GET', headers = [] } = question;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const sent = request({
      host: address,
      port,
      path,
      method,
      agent,
      signal,
      headers: ['Host', host, ...headers.flat()],
    });
    sent.on('error', reject);
    sent.on('response', resolve);
    sent.end();
  });
  const body = await text(response);
  const isPod = response.headers['x-image'] !== undefined && body !== '';
  const pod = isPod ? (JSON.parse(body) as PodAnswer) : undefined;
  return { status: response.statusCode!, headers: response.headers, body, pod };
}
