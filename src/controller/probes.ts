// The HTTP endpoints of a running process: /healthz, /readyz and /metrics.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { http } from '../kube/http.ts';

/** A named check: undefined if it passes, otherwise why it fails. */
type Check = () => string | undefined;

export interface ProbeOptions {
  readonly host?: string;
  readonly port: number;
  /** Absent endpoints are not served. */
  readonly healthz?: Readonly<Record<string, Check>>;
  readonly readyz?: Readonly<Record<string, Check>>;
  readonly metrics?: () => Promise<string>;
}

export interface ProbeServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the probes. `/readyz/NAME` asks for one check, `?verbose` lists them, `?exclude=NAME` leaves one out.
 * The reason of a failure is shown with `?verbose` only.
 */
export async function serveProbes(options: ProbeOptions): Promise<ProbeServer> {
  const served = (['healthz', 'readyz', 'metrics'] as const).filter((name) => options[name] !== undefined);
  const server = http.createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const answer = (code: number, type: string, body: string): void => {
      response.writeHead(code, { 'content-type': type }).end(body);
    };
    const [, name = '', check] = url.pathname.split('/');
    if (name === 'metrics' && options.metrics !== undefined) {
      options.metrics().then(
        (text) => answer(200, 'text/plain; version=0.0.4; charset=utf-8', text),
        (error: unknown) => answer(500, 'text/plain', String(error)),
      );
      return;
    }
    const checks = name === 'healthz' || name === 'readyz' ? options[name] : undefined;
    if (checks === undefined) {
      answer(404, 'text/plain', `not found: try ${alternatives(served.map((each) => `/${each}`))}\n`);
      return;
    }
    const { code, body } = probe(checks, check, url.searchParams);
    answer(code, 'text/plain', body);
  });
  server.listen(options.port, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const { address, port } = server.address() as AddressInfo;
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function alternatives(names: readonly string[]): string {
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter((part) => part !== '').join(' or ');
}

function probe(
  all: Readonly<Record<string, Check>>,
  only: string | undefined,
  query: URLSearchParams,
): { code: number; body: string } {
  const checks: Readonly<Record<string, Check>> = { ping: () => undefined, ...all };
  const excluded = new Set(query.getAll('exclude'));
  if (only !== undefined && checks[only] === undefined) return { code: 404, body: `no check "${only}"\n` };
  const verbose = query.has('verbose');
  const lines: string[] = [];
  let failed = false;
  for (const [name, check] of Object.entries(checks)) {
    if ((only !== undefined && name !== only) || excluded.has(name)) continue;
    const problem = check();
    failed ||= problem !== undefined;
    if (problem === undefined) lines.push(`[+]${name} ok`);
    else lines.push(verbose ? `[-]${name} failed: ${problem}` : `[-]${name} failed: reason withheld`);
  }
  if (!failed && !verbose) return { code: 200, body: 'ok' };
  return { code: failed ? 500 : 200, body: `${lines.join('\n')}\n` };
}
