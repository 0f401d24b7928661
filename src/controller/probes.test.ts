import { afterEach, beforeEach, expect, test } from 'vitest';
import { serveProbes } from './probes.ts';
import type { ProbeServer } from './probes.ts';

let server: ProbeServer;
let problem: string | undefined;
beforeEach(async () => {
  problem = undefined;
  server = await serveProbes({
    port: 0,
    healthz: {},
    readyz: { tables: () => problem, other: () => undefined },
    metrics: () => Promise.resolve('a_metric 1\n'),
  });
});
afterEach(() => server.close());

async function get(path: string): Promise<[number, string]> {
  const response = await fetch(`${server.url}${path}`);
  return [response.status, await response.text()];
}

test('probes answer ok when all checks pass', async () => {
  expect(await get('/healthz')).toEqual([200, 'ok']);
  expect(await get('/readyz')).toEqual([200, 'ok']);
  expect(await get('/readyz?verbose')).toEqual([200, '[+]ping ok\n[+]tables ok\n[+]other ok\n']);
  expect(await get('/metrics')).toEqual([200, 'a_metric 1\n']);
});

test('a failing check fails only its own probe, and says why only with ?verbose', async () => {
  problem = 'waiting for Pod';
  expect(await get('/healthz')).toEqual([200, 'ok']);
  expect(await get('/readyz')).toEqual([500, '[+]ping ok\n[-]tables failed: reason withheld\n[+]other ok\n']);
  expect((await get('/readyz?verbose'))[1]).toContain('[-]tables failed: waiting for Pod');
  expect((await get('/readyz?exclude=tables'))[0]).toBe(200);
  expect((await get('/readyz/tables'))[0]).toBe(500);
  expect((await get('/readyz/other'))[0]).toBe(200);
});

test('an unknown check or path is answered with 404', async () => {
  expect(await get('/readyz/nothing')).toEqual([404, 'no check "nothing"\n']);
  expect(await get('/')).toEqual([404, 'not found: try /healthz, /readyz or /metrics\n']);
});
