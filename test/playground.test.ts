// The first steps of a user: `offshoot up` with the sample shop, an environment created from another terminal without
// any configuration, and requests with and without its header.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect, loadConfig } from '../src/kube/index.ts';
import { Deployment, Namespace } from './support/core-kinds.ts';
import { startOffshoot } from './support/offshoot-process.ts';
import type { Running } from './support/offshoot-process.ts';
import { until } from './support/until.ts';

const BASE = 'frontend:1 → catalog:1 → reviews:1 → ratings:1';

let home: string;
let started: Running[];
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'offshoot-home-'));
  started = [];
});
afterEach(async () => {
  for (const { child, exit } of started) {
    child.kill('SIGKILL');
    await exit;
  }
  rmSync(home, { recursive: true, force: true });
});

/** Runs the command without any configuration. */
function offshoot(args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
  const running = startOffshoot(args, { HOME: home, ...env });
  started.push(running);
  return running;
}

async function ran(...args: string[]): Promise<string> {
  const { exit, out } = offshoot(args);
  expect([await exit, out.stderr]).toEqual([{ code: 0, signal: null }, expect.any(String)]);
  return out.stdout;
}

interface Up {
  readonly running: Running;
  readonly line: Readonly<Record<'api' | 'kubeconfig' | 'gateway', string>>;
}

/** Starts the cluster on free ports. */
async function up(...args: string[]): Promise<Up> {
  const running = offshoot(['up', '--port', '0', '-o', 'json', ...args]);
  await until(() => running.out.stdout.includes('\n') || running.child.exitCode !== null, 30_000);
  return { running, line: JSON.parse(running.out.stdout) as Up['line'] };
}

async function stop({ child, exit, out }: Running): Promise<void> {
  child.kill('SIGINT');
  expect([await exit, out.stderr]).toEqual([{ code: 0, signal: null }, '']);
}

async function ask(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const answer = (await (await fetch(url, { headers })).json()) as { readonly path: string };
  return answer.path;
}

test('an environment changes the answer for one header, until it is deleted', async () => {
  const { running, line } = await up();
  expect(running.out.stdout.trimEnd().split('\n')).toHaveLength(1);
  const { gateway } = line;
  const keyed = (): Promise<string> => ask(gateway, { 'x-env': 'pr-7' });
  expect([await ask(gateway), await keyed()]).toEqual([BASE, BASE]);
  const flags = ['-n', 'playground', '--subset', 'reviews=shop/reviews:2', '--key', 'pr-7', '--wait'];
  await ran('env', 'create', 'pr-7', ...flags);
  const replaced = BASE.replace('reviews:1', 'reviews:2');
  // Without another wait: --wait was enough.
  expect([await keyed(), await ask(gateway)]).toEqual([replaced, BASE]);
  expect(await ask(gateway, { baggage: 'a=b, env=pr-7' })).toBe(replaced);
  expect(await ran('env', 'list', '-n', 'playground', '--context', 'offshoot')).toContain('pr-7');
  await ran('env', 'delete', 'pr-7', '-n', 'playground');
  expect([await keyed(), await ask(gateway)]).toEqual([BASE, BASE]);
  await stop(running);
}, 90_000);

test('images may have any name, and an environment may replace the frontend', async () => {
  const { running, line } = await up('--memory');
  const flags = ['-n', 'playground', '--kubeconfig', line.kubeconfig, '--key', 'me', '--wait'];
  await ran(
    'env',
    'create',
    'me',
    '--subset',
    'frontend=my/own-shop:3',
    '--subset',
    'ratings=shop/ratings:rc',
    ...flags,
  );
  expect(await ask(line.gateway, { 'x-env': 'me' })).toBe(
    'frontend (my/own-shop:3) → catalog:1 → reviews:1 → ratings:rc',
  );
  expect(await ask(line.gateway)).toBe(BASE);
  await stop(running);
}, 90_000);

test('the same URL serves a page to browsers', async () => {
  const { running, line } = await up('--memory');
  const page = await fetch(line.gateway, { headers: { accept: 'text/html' } });
  expect([page.headers.get('content-type'), page.headers.get('content-security-policy')]).toEqual([
    'text/html; charset=utf-8',
    expect.stringMatching(/^default-src 'none'; style-src 'sha256-/),
  ]);
  expect(await page.text()).toContain('<b>ratings:1</b>');
  await stop(running);
}, 60_000);

describe('a data directory', () => {
  test('keeps changes of the shop', async () => {
    const first = await up('--data-dir', path.join(home, 'data'));
    const client = connect(loadConfig({ path: first.line.kubeconfig }));
    const image = 'shop/ratings:7';
    const body = [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: image }];
    await client.patch(Deployment, { name: 'ratings', namespace: 'playground' }, { type: 'json', body });
    client.close();
    await until(async () => (await ask(first.line.gateway)).endsWith('ratings:7'), 20_000);
    await stop(first.running);
    const second = await up('--data-dir', path.join(home, 'data'));
    expect(await ask(second.line.gateway)).toBe(BASE.replace('ratings:1', 'ratings:7'));
    await stop(second.running);
  }, 90_000);

  test('with other objects gets no shop, and the output says so', async () => {
    const data = path.join(home, 'data');
    const first = await up('--data-dir', data, '--no-playground');
    expect(Object.keys(first.line)).not.toContain('gateway');
    const client = connect(loadConfig({ path: first.line.kubeconfig }));
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'mine' } });
    const names = (await client.list(Namespace, {})).items.map(({ metadata }) => metadata.name);
    expect(names).not.toContain('playground');
    client.close();
    await stop(first.running);
    const second = offshoot(['up', '--data-dir', data, '--port', '0']);
    await until(() => second.out.stdout.includes('Ctrl-C stops it.'), 30_000);
    expect(second.out.stdout).toMatch(/sample shop +none, as the cluster holds something else/);
    expect(second.out.stdout).toContain('kubectl get namespaces');
    await stop(second);
  }, 90_000);
});

describe('the output of up', () => {
  /** The lines that it prints until it is ready. */
  async function printed(env: NodeJS.ProcessEnv, ...args: string[]): Promise<readonly string[]> {
    const running = offshoot(['up', '--port', '0', ...args], env);
    await until(() => running.out.stdout.includes('Ctrl-C stops it.'), 30_000);
    await stop(running);
    return running.out.stdout.split('\n').map((text) => text.trim());
  }

  test('has three commands to paste, of which the second names the cluster', async () => {
    const lines = await printed({ npm_command: 'run-script' });
    expect(lines).toEqual(
      expect.arrayContaining([
        'Try it in another terminal, in this folder:',
        expect.stringMatching(/^curl http:\/\/127\.0\.0\.1:\d+\/$/),
        'npx offshoot env create pr-7 --context offshoot -n playground --subset reviews=shop/reviews:2 --key pr-7 --wait',
        expect.stringMatching(/^curl -H 'x-env: pr-7' http:\/\/127\.0\.0\.1:\d+\/$/),
      ]),
    );
    const elsewhere = await printed({}, '--data-dir', path.join(home, 'my data'));
    const file = path.join(home, 'my data', 'kubeconfig');
    expect(elsewhere).toContain(
      `offshoot env create pr-7 --kubeconfig '${file}' -n playground --subset reviews=shop/reviews:2 --key pr-7 --wait`,
    );
  }, 90_000);

  test('uses a free name for the environment, and reports an incomplete shop', async () => {
    const { running, line } = await up();
    await ran('env', 'create', 'pr-7', '-n', 'playground', '--subset', 'reviews=shop/reviews:2', '--key', 'pr-7');
    await stop(running);
    const again = await printed({});
    expect(again.find((text) => text.startsWith('offshoot env create'))).toMatch(/ create pr-8 .* --key pr-8 --wait$/);
    expect(again).toContainEqual(expect.stringMatching(/^curl -H 'x-env: pr-8' /));
    const later = await up();
    const client = connect(loadConfig({ path: line.kubeconfig }));
    await client.delete(Deployment, { name: 'reviews', namespace: 'playground' });
    client.close();
    await stop(later.running);
    expect(await printed({})).toContain(
      'The sample shop is not complete: Deployment playground/reviews is gone. --fresh starts over.',
    );
  }, 90_000);
});

describe('without a configured cluster', () => {
  test('commands use that of up; a configured cluster comes first', async () => {
    const { running, line } = await up();
    const theirs = path.join(home, 'theirs');
    writeFileSync(
      theirs,
      readFileSync(line.kubeconfig, 'utf8').replaceAll('offshoot', 'work').replace(line.api, 'https://127.0.0.1:1'),
    );
    const refused = offshoot(['env', 'list', '-n', 'playground'], { KUBECONFIG: theirs });
    expect((await refused.exit).code).toBe(1);
    expect(refused.out.stderr).toContain('ECONNREFUSED 127.0.0.1:1');
    const missing = offshoot(['env', 'list', '-n', 'playground'], { KUBECONFIG: path.join(home, 'none') });
    expect((await missing.exit).code).toBe(1);
    expect(missing.out.stderr).toMatch(/no cluster configured: .*none does not exist/);
    // Its context is found beside another kubeconfig.
    const named = offshoot(['env', 'list', '-n', 'playground', '--context', 'offshoot'], { KUBECONFIG: theirs });
    expect([await named.exit, named.out.stderr]).toEqual([{ code: 0, signal: null }, expect.stringContaining('No ')]);
    await stop(running);
    const stopped = offshoot(['env', 'list', '-n', 'playground']);
    expect((await stopped.exit).code).toBe(1);
    expect(stopped.out.stderr).toBe(
      `error: nobody answers at ${line.api}, where "offshoot up" ran last (${line.kubeconfig}): start it again\ncode: ConnectionRefused, see "offshoot errors ConnectionRefused"\n`,
    );
  }, 90_000);
});

describe('a gateway port that is in use', () => {
  test('is an error if it was requested', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { exit, out } = offshoot(['up', '--memory', '--port', '0', '--gateway-port', String(port)]);
    expect([await exit, out]).toEqual([
      { code: 1, signal: null },
      {
        stdout: '',
        stderr: `error: --gateway-port: port ${port} is in use; choose another one\ncode: PortInUse, see "offshoot errors PortInUse"\n`,
      },
    ]);
    server.close();
  }, 60_000);

  test('is replaced by a free one if it is the default, with a warning', async () => {
    const server = createServer().listen(7480, '127.0.0.1');
    // Another process that uses the port is just as good.
    await Promise.race([once(server, 'listening'), once(server, 'error')]).catch(() => undefined);
    const api = createServer().listen(0, '127.0.0.1');
    await once(api, 'listening');
    const { port } = api.address() as AddressInfo;
    api.close();
    await once(api, 'close');
    const running = offshoot(['up', '--memory', '--port', String(port), '--no-dashboard', '-o', 'json']);
    await until(() => running.out.stdout.includes('\n') || running.child.exitCode !== null, 30_000);
    const { gateway } = JSON.parse(running.out.stdout) as Up['line'];
    expect(running.out.stderr).toBe(
      `Warning: port 7480 is in use, so the gateway listens on ${gateway}. --gateway-port chooses one that stays.\n`,
    );
    expect(await ask(gateway)).toBe(BASE);
    server.close();
  }, 60_000);
});
