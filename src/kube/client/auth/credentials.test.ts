import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Client } from '../client.ts';
import type { ConnectConfig, ExecConfig } from '../config/config.ts';
import { connect } from '../connect.ts';
import { createAuthority } from '../../pki.ts';
import { json, refuse, startServer } from '../../testing/http-server.ts';
import type { TestServer } from '../../testing/http-server.ts';

let directory: string;
let server: TestServer;
const clients: Client[] = [];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'credentials-'));
  server = await startServer();
});

afterEach(async () => {
  for (const made of clients.splice(0)) made.close();
  await server.close();
  rmSync(directory, { recursive: true });
});

function open(config: Partial<ConnectConfig>): Client {
  const made = connect({ server: server.url, ...config });
  clients.push(made);
  return made;
}

function write(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const authorizations = (): (string | undefined)[] => server.seen.map(({ headers }) => headers.authorization);

/** A plugin that counts its runs in a file and prints what `answers` holds for that run; the last answer repeats. */
function plugin(answers: readonly unknown[], options: Partial<ExecConfig> = {}): ExecConfig {
  const script = `
    const fs = require('node:fs');
    const [runs, answers] = process.argv.slice(1);
    fs.appendFileSync(runs, process.env.KUBERNETES_EXEC_INFO + ' ' + process.env.REGION + '\\n');
    const count = fs.readFileSync(runs, 'utf8').trim().split('\\n').length;
    const list = JSON.parse(answers);
    process.stdout.write(JSON.stringify(list[Math.min(count, list.length) - 1]));`;
  return {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: ['-e', script, join(directory, 'runs'), JSON.stringify(answers)],
    env: {},
    interactiveMode: 'Never',
    ...options,
  };
}

const runs = (): string[] => readFileSync(join(directory, 'runs'), 'utf8').trim().split('\n');

function printed(status: object, apiVersion = 'client.authentication.k8s.io/v1'): object {
  return { apiVersion, kind: 'ExecCredential', status };
}

test.each([
  [{}, undefined],
  [{ token: 'secret' }, 'Bearer secret'],
  [{ username: 'jane', password: 'p:w' }, `Basic ${btoa('jane:p:w')}`],
  [{ username: 'jane' }, `Basic ${btoa('jane:')}`],
])('fixed credentials: %j', async (config, wanted) => {
  await open(config).raw({ path: '/' });
  expect(authorizations()).toEqual([wanted]);
});

test('a token file is read again when it changes, and may be missing for a moment', async () => {
  const tokenFile = write('token', 'first\n');
  const client = open({ tokenFile, token: 'ignored' });
  await client.raw({ path: '/' });
  write('token', 'second, longer\n');
  await client.raw({ path: '/' });
  rmSync(tokenFile);
  await client.raw({ path: '/' });
  expect(authorizations()).toEqual(['Bearer first', 'Bearer second, longer', 'Bearer second, longer']);
});

test('the error for a missing or empty token file names the file', async () => {
  const missing = join(directory, 'missing');
  await expect(open({ tokenFile: missing }).raw({ path: '/' })).rejects.toMatchObject({
    code: 0,
    reason: 'CredentialsUnavailable',
    message: expect.stringContaining(missing),
  });
  await expect(open({ tokenFile: write('empty', ' \n') }).raw({ path: '/' })).rejects.toThrow(/empty is empty/);
  expect(server.seen).toEqual([]);
});

test('a fixed token that was rejected is not sent again', async () => {
  server.handle((response) => refuse(response, 401, 'Unauthorized'));
  await expect(open({ token: 'old' }).raw({ path: '/' })).rejects.toMatchObject({ code: 401 });
  await expect(open({ tokenFile: write('token', 'old') }).raw({ path: '/' })).rejects.toMatchObject({ code: 401 });
  expect(server.seen.length).toBe(2);
});

test('a plugin runs once for many requests, with its environment and the requested cluster information', async () => {
  const exec = plugin([printed({ token: 'secret' })], { env: { REGION: 'north' }, cluster: { server: 'https://x' } });
  const client = open({ exec });
  await Promise.all([client.raw({ path: '/' }), client.raw({ path: '/' })]);
  await client.flow('other').raw({ path: '/' });
  expect(authorizations()).toEqual(Array(3).fill('Bearer secret'));
  const info = {
    apiVersion: exec.apiVersion,
    kind: 'ExecCredential',
    spec: { cluster: exec.cluster, interactive: false },
  };
  expect(runs()).toEqual([`${JSON.stringify(info)} north`]);
});

test('a plugin runs again when its credentials have expired', async () => {
  const past = printed({ token: 'short', expirationTimestamp: '2020-01-01T00:00:00Z' });
  const future = printed({ token: 'long', expirationTimestamp: '2999-01-01T00:00:00Z' });
  const client = open({ exec: plugin([past, future]) });
  for (let round = 0; round < 3; round++) await client.raw({ path: '/' });
  expect(authorizations()).toEqual(['Bearer short', 'Bearer long', 'Bearer long']);
  expect(runs().length).toBe(2);
});

test('a plugin runs again after a 401, and the request is retried once, even a write', async () => {
  server.handle((response, { headers }) => {
    if (headers.authorization === 'Bearer 1') refuse(response, 401, 'Unauthorized');
    else json(response, {});
  });
  const client = open({ exec: plugin([printed({ token: '1' }), printed({ token: '2' })]) });
  await client.raw({ method: 'POST', path: '/', body: { a: 1 } });
  expect(server.seen.map(({ headers, body }) => [headers.authorization, body])).toEqual([
    ['Bearer 1', '{"a":1}'],
    ['Bearer 2', '{"a":1}'],
  ]);
});

test('a 401 whose body is cut off is still retried with fresh credentials', async () => {
  server.handle((response, { headers, socket }) => {
    if (headers.authorization !== 'Bearer 1') return json(response, { fine: true });
    response.writeHead(401, { 'content-length': '100' });
    response.write('{', () => setImmediate(() => socket.destroy()));
  });
  const client = open({ exec: plugin([printed({ token: '1' }), printed({ token: '2' })]) });
  expect(await client.raw({ path: '/' })).toEqual({ fine: true });
});

test('a given token takes precedence over a plugin', async () => {
  await open({ token: 'mine', exec: plugin([]) }).raw({ path: '/' });
  expect(authorizations()).toEqual(['Bearer mine']);
});

test('a 401 after the plugin ran again is final', async () => {
  server.handle((response) => refuse(response, 401, 'Unauthorized'));
  await expect(open({ exec: plugin([printed({ token: '1' })]) }).raw({ path: '/' })).rejects.toMatchObject({
    code: 401,
  });
  expect(server.seen.length).toBe(2);
});

/** Runs `work` with a server that knows users by certificate, and a plugin that prints a new one each time. */
async function withCertificates(
  expirationTimestamp: string,
  work: (secure: TestServer, client: Client, user: (seen: { socket: unknown }) => string | undefined) => Promise<void>,
): Promise<void> {
  const authority = createAuthority({ commonName: 'cluster', days: 1 });
  const serving = authority.issue({ commonName: 'server', ipAddresses: ['127.0.0.1'], days: 1, usage: 'server' });
  const secure = await startServer({
    cert: serving.certPem,
    key: serving.keyPem,
    ca: authority.certPem,
    requestCert: true,
  });
  const answers = ['old', 'new'].map((commonName) => {
    const { certPem, keyPem } = authority.issue({ commonName, days: 1, usage: 'client' });
    return printed({ clientCertificateData: certPem, clientKeyData: keyPem, expirationTimestamp });
  });
  const client = open({ server: secure.url, caPem: authority.certPem, exec: plugin(answers) });
  try {
    await work(secure, client, ({ socket }) => (socket as TLSSocket).getPeerX509Certificate()?.subject);
  } finally {
    client.close();
    await secure.close();
  }
}

test('client certificates may come from a plugin, and a new one means a new connection', () =>
  withCertificates('2999-01-01T00:00:00Z', async (secure, client, user) => {
    secure.handle((response, seen) => {
      if (user(seen) === 'CN=old') refuse(response, 401, 'Unauthorized');
      else json(response, { user: user(seen) });
    });
    expect(await client.raw({ path: '/' })).toEqual({ user: 'CN=new' });
    expect(await client.raw({ path: '/' })).toEqual({ user: 'CN=new' });
    expect(secure.seen.map(({ connection }) => connection)).toEqual([1, 2, 2]);
    await expect.poll(() => secure.seen[0]!.socket.destroyed).toBe(true);
  }));

test('a request in flight when the certificate changes finishes, and its connection is then closed', () =>
  withCertificates('2020-01-01T00:00:00Z', async (secure, client, user) => {
    let finish = (): void => undefined;
    secure.handle((response, seen) => {
      const answer = (): void => json(response, { user: user(seen) });
      if (secure.seen.length === 1) finish = answer;
      else answer();
    });
    const slow = client.raw({ path: '/slow' });
    await expect.poll(() => secure.seen.length).toBe(1);
    expect(await client.raw({ path: '/' })).toEqual({ user: 'CN=new' });
    finish();
    expect(await slow).toEqual({ user: 'CN=old' });
    await expect.poll(() => secure.seen[0]!.socket.destroyed).toBe(true);
  }));

test.each([
  [
    { command: 'no-such-command-here', installHint: 'Get it from example.com.' },
    /'no-such-command-here': the command is not installed\nGet it from example\.com\.$/,
  ],
  [{ args: ['-e', 'console.error("no login"); process.exit(3)'] }, /ended with exit code 3: no login/],
  [{ args: ['-e', 'process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 100)'] }, /was ended by SIGTERM/],
  [{ args: ['-e', 'console.log("hello")'] }, /did not print JSON/],
  [
    { args: ['-e', 'console.log("null")'] },
    /it printed undefined undefined, and client\.authentication\.k8s\.io\/v1 ExecCredential was asked for/,
  ],
  [
    printing({ token: 'x' }, 'client.authentication.k8s.io/v1beta1'),
    /it printed client\.authentication\.k8s\.io\/v1beta1 ExecCredential/,
  ],
  [printing({}), /neither status\.token nor status\.clientCertificateData/],
  [printing({ clientCertificateData: 'x' }), /must come together/],
  [printing({ token: 'x', expirationTimestamp: 'soon' }), /expirationTimestamp is not a time: 'soon'/],
])('the error for a failing plugin names the plugin and the cause: %#', async (options, message) => {
  const exec = plugin([], options);
  const error: unknown = await open({ exec })
    .raw({ path: '/' })
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 0, reason: 'CredentialsUnavailable' });
  expect((error as Error).message).toMatch(message);
  expect(server.seen).toEqual([]);
});

test.skipIf(process.stdin.isTTY)('a plugin that must ask the user is not run without a terminal', async () => {
  await expect(open({ exec: plugin([], { interactiveMode: 'Always' }) }).raw({ path: '/' })).rejects.toThrow(
    /not a terminal/,
  );
});

test('a plugin that takes longer than the deadline of the request does not delay it', async () => {
  const exec = plugin([], { args: ['-e', 'setTimeout(() => {}, 500)'] });
  await expect(open({ exec }).raw({ path: '/', timeoutMs: 50 })).rejects.toMatchObject({ code: 0, reason: 'Timeout' });
});

/** The options of a plugin that prints this status. */
function printing(status: object, apiVersion?: string): Partial<ExecConfig> {
  return { args: ['-e', `console.log(${JSON.stringify(JSON.stringify(printed(status, apiVersion)))})`] };
}
