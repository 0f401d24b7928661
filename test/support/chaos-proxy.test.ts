import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startChaos } from './chaos-proxy.ts';
import type { Chaos, ChaosOptions } from './chaos-proxy.ts';
import { until } from './until.ts';

const LINES = [1, 2, 3].map((n) => `{"type":"ADDED","object":{"metadata":{"name":"n${n}","text":"ü"}}}\n`);

/** A server with one list and one watch; the watch sends three events, then ends or stays open. */
async function target(): Promise<{ url: string; seen: string[]; stop(): Promise<void> }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization ?? '-'}`);
    if (request.url?.includes('watch=true')) {
      response.write(LINES.join('').slice(0, 50));
      response.write(LINES.join('').slice(50));
      if (!request.url.includes('open')) response.end();
    } else if (request.method === 'POST') request.pipe(response);
    else response.setHeader('content-type', 'application/json').end('{"items":["a","b","c"]}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('startChaos', () => {
  let server: Awaited<ReturnType<typeof target>>;
  let chaos: Chaos;
  const start = async (options: Partial<ChaosOptions> = {}): Promise<void> => {
    chaos = await startChaos({ target: { url: server.url, token: 'secret' }, refuseMs: 20, lateMs: 30, ...options });
  };
  const get = (path: string): Promise<Response> => fetch(`${chaos.url}${path}`);
  const text = async (path: string): Promise<string> => (await get(path)).text();

  beforeEach(async () => {
    server = await target();
  });
  afterEach(async () => {
    await chaos.stop();
    await server.stop();
  });

  it('forwards requests and responses, with the credentials of the target', async () => {
    await start();
    expect(await text('/api/v1/pods?limit=5')).toBe('{"items":["a","b","c"]}');
    expect(await text('/api/v1/pods?watch=true')).toBe(LINES.join(''));
    const posted = await fetch(`${chaos.url}/api/v1/pods`, { method: 'POST', body: 'hello' });
    expect(await posted.text()).toBe('hello');
    expect(server.seen).toEqual([
      'GET /api/v1/pods?limit=5 Bearer secret',
      'GET /api/v1/pods?watch=true Bearer secret',
      'POST /api/v1/pods Bearer secret',
    ]);
  });

  it.each([
    ['gone', 410],
    ['busy', 429],
    ['error', 500],
    ['unavailable', 503],
  ] as const)('answers %s once', async (fault, code) => {
    await start();
    chaos.next(fault);
    const refused = await get('/pods');
    expect(refused.status).toBe(code);
    expect(await refused.json()).toMatchObject({ kind: 'Status', code });
    expect(refused.headers.get('retry-after')).toBe(fault === 'busy' ? '1' : null);
    expect((await get('/pods')).status).toBe(200);
    expect(chaos.counts[fault]).toBe(1);
  });

  it('breaks the connection in the middle of a response', async () => {
    await start();
    chaos.next('drop');
    await expect(text('/pods')).rejects.toThrow('terminated');
    expect(await text('/pods')).toContain('items');
  });

  it('breaks the connection in the middle of a watch event', async () => {
    await start();
    chaos.next('drop');
    const response = await get('/pods?watch=true');
    let received = '';
    await expect(
      (async () => {
        for await (const chunk of response.body!) received += Buffer.from(chunk).toString();
      })(),
    ).rejects.toThrow('terminated');
    expect(LINES[0]!.startsWith(received)).toBe(true);
    expect(received.length).toBeLessThan(LINES[0]!.length);
  });

  it('sends an event twice', async () => {
    await start();
    chaos.next('repeat');
    expect(await text('/pods?watch=true')).toBe(LINES[0]! + LINES.join(''));
  });

  it('ends a watch with ERROR 410 inside the stream', async () => {
    await start();
    chaos.next('goneInStream');
    expect(JSON.parse(await text('/pods?watch=true'))).toMatchObject({ type: 'ERROR', object: { code: 410 } });
  });

  it('goes silent, and stays silent after calm()', async () => {
    await start();
    chaos.next('silence');
    const response = await get('/pods?watch=true&open');
    const reader = response.body!.getReader();
    let heard = false;
    void reader.read().then(
      () => (heard = true),
      () => undefined,
    );
    await until(() => chaos.counts.silence === 1);
    await chaos.calm();
    expect(await text('/pods')).toContain('items');
    expect(heard).toBe(false);
    await reader.cancel();
  });

  it('delays a response', async () => {
    await start();
    chaos.next('late');
    const started = performance.now();
    await text('/pods');
    expect(performance.now() - started).toBeGreaterThan(25);
  });

  it('refuses connections for a while, or until calm()', async () => {
    await start({ refuseMs: 60_000 });
    chaos.next('refuse');
    await expect(text('/pods')).rejects.toThrow('fetch failed');
    // Connections that were open are reset.
    const code = (error: unknown): unknown => (error as { cause?: { code?: unknown } }).cause?.code;
    await until(async () => (await text('/pods').catch(code)) === 'ECONNREFUSED');
    await chaos.calm();
    expect(await text('/pods')).toContain('items');
  });

  it('is deterministic for a seed, and stops faults after calm()', async () => {
    const codes = async (seed: number): Promise<number[]> => {
      await start({ seed, faults: { error: 0.3, busy: 0.3 } });
      const all: number[] = [];
      for (let i = 0; i < 30; i++) all.push((await get('/pods')).status);
      return all;
    };
    const first = await codes(7);
    await chaos.stop();
    expect(await codes(7)).toEqual(first);
    expect(new Set(first)).toEqual(new Set([200, 429, 500]));
    await chaos.calm();
    for (let i = 0; i < 10; i++) expect((await get('/pods')).status).toBe(200);
  });
});
