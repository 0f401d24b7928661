import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import type { Client } from './client.ts';
import type { ConnectConfig } from './config/config.ts';
import { connect } from './connect.ts';
import { isTransient } from '../errors.ts';
import { defineKind } from '../objects.ts';
import type { AnyObject } from '../objects.ts';
import { createAuthority } from '../pki.ts';
import { json, startServer } from '../testing/http-server.ts';
import type { TestServer } from '../testing/http-server.ts';
import { startProxy } from '../testing/proxy.ts';
import type { TestProxy } from '../testing/proxy.ts';

const authority = createAuthority({ commonName: 'cluster', days: 1 });
const client = authority.issue({ commonName: 'jane', organizations: ['dev'], days: 1, usage: 'client' });
const cleanup: { close(): unknown }[] = [];

afterEach(async () => {
  for (const open of cleanup.splice(0).reverse()) await open.close();
});

/** A server whose certificate is for these names, and which asks for a client certificate. */
async function serve(names: { dnsNames?: string[]; ipAddresses?: string[] }): Promise<TestServer> {
  const { certPem, keyPem } = authority.issue({ commonName: 'server', ...names, days: 1, usage: 'server' });
  const server = await startServer({
    cert: certPem,
    key: keyPem,
    ca: authority.certPem,
    requestCert: true,
    rejectUnauthorized: false,
  });
  cleanup.push(server);
  server.handle((response, { socket }) => {
    const peer = (socket as TLSSocket).getPeerX509Certificate();
    json(response, { user: peer?.subject ?? 'nobody' });
  });
  return server;
}

function open(config: ConnectConfig): Client {
  const made = connect(config);
  cleanup.push(made);
  return made;
}

const whoami = (config: ConnectConfig): Promise<unknown> => open(config).raw({ path: '/whoami' });

test('a server with a certificate of the trusted CA is accepted, and gets our certificate', async () => {
  const { url } = await serve({ ipAddresses: ['127.0.0.1'] });
  const config = { server: url, caPem: authority.certPem };
  expect(await whoami(config)).toEqual({ user: 'nobody' });
  expect(await whoami({ ...config, certPem: client.certPem, keyPem: client.keyPem })).toEqual({
    user: 'O=dev\nCN=jane',
  });
});

test('many requests share few connections', async () => {
  const server = await serve({ ipAddresses: ['127.0.0.1'] });
  const kept = open({ server: server.url, caPem: authority.certPem });
  for (let round = 0; round < 10; round++) await Promise.all([1, 2].map(() => kept.raw({ path: '/' })));
  expect(Math.max(...server.seen.map(({ connection }) => connection))).toBe(2);
});

test('a server certificate of another CA or for another name is rejected, and the error is not transient', async () => {
  const { url } = await serve({ dnsNames: ['api.example.com'] });
  const other = createAuthority({ commonName: 'other', days: 1 });
  for (const caPem of [other.certPem, authority.certPem]) {
    const error: unknown = await whoami({ server: url, caPem }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 0, reason: 'CertificateRefused' });
    expect(isTransient(error)).toBe(false);
  }
});

test('tls-server-name and insecure-skip-tls-verify work as in kubectl', async () => {
  const { url } = await serve({ dnsNames: ['api.example.com'] });
  const trusted = { server: url, caPem: authority.certPem };
  expect(await whoami({ ...trusted, tlsServerName: 'api.example.com' })).toEqual({ user: 'nobody' });
  await expect(whoami({ ...trusted, tlsServerName: 'elsewhere' })).rejects.toMatchObject({
    reason: 'CertificateRefused',
  });
  expect(await whoami({ server: url, insecureSkipTlsVerify: true })).toEqual({ user: 'nobody' });
});

async function proxy(options?: Parameters<typeof startProxy>[0]): Promise<TestProxy> {
  const made = await startProxy(options);
  cleanup.push(made);
  return made;
}

test('a proxy is used by CONNECT, and sees nothing of the requests', async () => {
  const { url, port } = await serve({ ipAddresses: ['127.0.0.1'] });
  const through = await proxy();
  const config = { server: url, caPem: authority.certPem, certPem: client.certPem, keyPem: client.keyPem };
  const made = open({ ...config, proxyUrl: through.url.replace('//', '//me:p%40ss@') });
  for (let round = 0; round < 3; round++) expect(await made.raw({ path: '/' })).toEqual({ user: 'O=dev\nCN=jane' });
  expect(through.seen).toEqual([{ target: `127.0.0.1:${port}`, authorization: `Basic ${btoa('me:p@ss')}` }]);
});

test('a proxy works for plain HTTP too', async () => {
  const server = await startServer();
  cleanup.push(server);
  const through = await proxy();
  expect(await whoami({ server: server.url, proxyUrl: through.url })).toEqual({});
  expect(through.seen.length).toBe(1);
});

test.each(['TLS', 'TLS and a proxy', 'a proxy'])('`beforeSend` is asked on connections over %s', async (over) => {
  const server = over.startsWith('TLS') ? await serve({ ipAddresses: ['127.0.0.1'] }) : await startServer();
  cleanup.push(server);
  const made = open({
    server: server.url,
    caPem: authority.certPem,
    ...(over.endsWith('a proxy') && { proxyUrl: (await proxy()).url }),
  });
  let isOpen = true;
  const sent: number[] = [];
  const request = {
    path: '/',
    method: 'POST',
    body: { a: 1 },
    beforeSend: () => {
      sent.push(server.seen.length);
      if (!isOpen) throw new Error('too late');
    },
  };
  for (let round = 0; round < 2; round++) await made.raw(request);
  isOpen = false;
  await expect(made.raw(request)).rejects.toThrow('too late');
  isOpen = true;
  await made.raw(request);
  expect(server.seen.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}', '{"a":1}']);
  expect(sent).toEqual([0, 1, 2, 2]);
});

test('`beforeSend` is not asked before the TLS handshake is over', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  cleanup.push(silent);
  let asked = 0;
  const made = open({ server: `https://127.0.0.1:${(silent.address() as AddressInfo).port}` });
  const request = { path: '/', method: 'POST', timeoutMs: 100, beforeSend: () => void asked++ };
  await expect(made.raw(request)).rejects.toMatchObject({ reason: 'Timeout' });
  expect(asked).toBe(0);
});

test('concurrent watches over TLS, with and without a proxy, each get their own events', async () => {
  const server = await serve({ ipAddresses: ['127.0.0.1'] });
  const through = await proxy();
  const Pod = defineKind('v1', 'Pod', 'pods');
  const sizes = [10, 20_000, 5_000, 300_000, 40_000];
  const objectOf = (namespace: string, size: number): AnyObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${namespace}-${size}`, namespace },
    text: namespace.repeat(size),
  });
  server.handle((response, { url }) => {
    const namespace = /namespaces\/(.+)\/pods/.exec(url)![1]!;
    response.writeHead(200);
    for (const size of sizes) {
      response.write(`${JSON.stringify({ type: 'ADDED', object: objectOf(namespace, size) })}\n`);
    }
    response.end();
  });
  const config = { server: server.url, caPem: authority.certPem };
  const clients = [open(config), open({ ...config, proxyUrl: through.url })];
  const watch = async (made: Client, namespace: string): Promise<void> => {
    const objects: AnyObject[] = [];
    await made.watch(Pod, { namespace }, ({ object }) => objects.push(object as AnyObject));
    expect(objects).toEqual(sizes.map((size) => objectOf(namespace, size)));
  };
  const namespaces = ['a', 'b', 'c', 'd'];
  await Promise.all(clients.flatMap((made) => namespaces.map((namespace) => watch(made, namespace))));
  expect(through.seen.length).toBe(namespaces.length);
});

test('the server certificate is checked through a proxy as well', async () => {
  const { url } = await serve({ dnsNames: ['api.example.com'] });
  const through = await proxy();
  const config = { server: url, caPem: authority.certPem, proxyUrl: through.url };
  await expect(whoami(config)).rejects.toMatchObject({ reason: 'CertificateRefused' });
  expect(await whoami({ ...config, tlsServerName: 'api.example.com' })).toEqual({ user: 'nobody' });
});

test('the error for a proxy that refuses or is down names the proxy', async () => {
  const { url, port } = await serve({ ipAddresses: ['127.0.0.1'] });
  const refusing = await proxy({ answer: '407 Proxy Authentication Required' });
  const config = { server: url, caPem: authority.certPem, proxyUrl: refusing.url };
  const host = new URL(refusing.url).host;
  await expect(whoami(config)).rejects.toMatchObject({
    reason: 'ProxyFailed',
    message: expect.stringContaining(`proxy ${host}: refused to connect to 127.0.0.1:${port}: 407`),
  });
  await refusing.close();
  await expect(whoami(config)).rejects.toMatchObject({
    reason: 'ProxyFailed',
    message: expect.stringContaining('ECONNREFUSED'),
  });
});
