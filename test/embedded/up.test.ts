// `offshoot up`, as users and scripts see it: what it prints, which files it leaves, and what it refuses.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { runnerFor } from '../../src/cli/testing/offshoot-process.ts';
import { connect, defineKind, isNotFound, loadConfig } from '../../src/kube/index.ts';
import type { AnyObject, Client } from '../../src/kube/index.ts';
import { freePort } from '../support/free-ports.ts';
import { until } from '../support/until.ts';

const BIN = path.resolve(import.meta.dirname, '../../bin/offshoot.js');
const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');
const kept = { name: 'kept', namespace: 'default' };

/** A running `offshoot up` and its output. */
interface Run {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves with the line that it prints when it is ready. */
  ready(): Promise<{ readonly api: string; readonly kubeconfig: string; readonly pid: number }>;
  /** Resolves with the exit code. */
  ended(): Promise<number | null>;
}

const children: ChildProcess[] = [];
const directories: string[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function newDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'offshoot-up-'));
  directories.push(directory);
  return directory;
}

/** Starts only the API server. */
function up(...args: string[]): Run {
  return upWithControllers('--no-controllers', ...args);
}

function upWithControllers(...args: string[]): Run {
  return started(args);
}

function started(args: readonly string[], env: NodeJS.ProcessEnv = {}): Run {
  const child = spawn(process.execPath, [BIN, 'up', '-o', 'json', ...args], { env: { ...process.env, ...env } });
  children.push(child);
  const output = { stdout: '', stderr: '' };
  const firstLine = Promise.withResolvers<string>();
  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout += chunk.toString();
    if (output.stdout.includes('\n')) firstLine.resolve(output.stdout);
  });
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  const closed = once(child, 'close').then(([code]) => {
    firstLine.reject(new Error(`it ended with ${String(code)}: ${output.stderr}`));
    return code as number | null;
  });
  firstLine.promise.catch(() => undefined);
  return {
    child,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    ready: async () => JSON.parse(await firstLine.promise) as { api: string; kubeconfig: string; pid: number },
    ended: () => closed,
  };
}

function clientOf(kubeconfig: string): Client {
  return connect(loadConfig({ path: kubeconfig }));
}

function configMap(value: string): AnyObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: kept, data: { value } };
}

async function stop(run: Run, signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
  run.child.kill(signal);
  return run.ended();
}

test('offshoot up prints one line with its address, stops on Ctrl-C, and keeps its data over a restart', async () => {
  const directory = newDirectory();
  const port = await freePort();
  const first = up('--data-dir', directory, '--port', String(port));
  const { api, kubeconfig, pid } = await first.ready();
  expect({ api, pid }).toEqual({ api: `https://127.0.0.1:${port}`, pid: first.child.pid });
  expect(statSync(kubeconfig).mode & 0o777).toBe(0o600);
  const before = clientOf(kubeconfig);
  const created = await before.create(ConfigMap, configMap('old'));
  before.close();
  expect(readFileSync(path.join(directory, 'server.pid'), 'utf8')).toBe(`${pid}\n`);
  expect([await stop(first), first.stderr()]).toEqual([0, '']);
  expect(first.stdout().trimEnd().split('\n')).toHaveLength(1);
  expect(existsSync(path.join(directory, 'server.pid'))).toBe(false);

  const second = up('--data-dir', directory, '--port', String(port));
  expect((await second.ready()).api).toBe(api);
  const after = clientOf(kubeconfig);
  expect(await after.get(ConfigMap, kept)).toEqual(created);
  after.close();
  expect(await stop(second, 'SIGTERM')).toBe(0);

  const third = up('--data-dir', directory, '--port', '0', '--fresh');
  const fresh = clientOf((await third.ready()).kubeconfig);
  expect(await fresh.get(ConfigMap, kept).catch(isNotFound)).toBe(true);
  const again = await fresh.create(ConfigMap, configMap('new'));
  fresh.close();
  // Resource versions of the old data must not be valid for the new data.
  expect(BigInt(again.metadata.resourceVersion!)).toBeGreaterThan(BigInt(created.metadata.resourceVersion!));
  expect(await stop(third)).toBe(0);
}, 60_000);

test('offshoot up refuses a data directory that another process uses, and names the process', async () => {
  const directory = newDirectory();
  const first = up('--data-dir', directory, '--port', '0');
  const { kubeconfig, pid } = await first.ready();
  const kubeconfigText = readFileSync(kubeconfig, 'utf8');
  for (const more of [[], ['--fresh']]) {
    const second = up('--data-dir', directory, '--port', '0', ...more);
    expect([await second.ended(), second.stdout()]).toEqual([1, '']);
    expect(second.stderr()).toBe(
      `error: the data directory ${directory} is in use by the process ${pid}: stop it first, or choose another directory\ncode: InvalidDataDirectory, see "offshoot errors InvalidDataDirectory"\n`,
    );
  }
  // The running process is not affected.
  expect(readFileSync(kubeconfig, 'utf8')).toBe(kubeconfigText);
  const client = clientOf(kubeconfig);
  await client.create(ConfigMap, configMap('fine'));
  client.close();
  expect(await stop(first)).toBe(0);
}, 60_000);

test('offshoot up can use a data directory at once after its process was killed', async () => {
  const directory = newDirectory();
  const first = up('--data-dir', directory, '--port', '0');
  await first.ready();
  await stop(first, 'SIGKILL');
  const second = up('--data-dir', directory, '--port', '0');
  expect((await second.ready()).pid).toBe(second.child.pid);
  expect(await stop(second)).toBe(0);
}, 60_000);

test('offshoot up refuses a data directory that cannot be created or is not a database, and says what to do', async () => {
  const directory = newDirectory();
  const file = path.join(directory, 'cluster.db');
  writeFileSync(file, 'no database at all, whatever its name is');
  const broken = up('--data-dir', directory, '--port', '0');
  expect([await broken.ended(), broken.stderr()]).toEqual([
    1,
    `error: the data directory ${directory} cannot be used (file is not a database): choose another one, or remove ${file}\ncode: InvalidDataDirectory, see "offshoot errors InvalidDataDirectory"\n`,
  ]);
  const none = up('--data-dir', file, '--port', '0');
  expect([await none.ended(), none.stderr()]).toEqual([
    1,
    expect.stringMatching(
      /^error: the data directory .*cluster\.db cannot be made \(EEXIST: .*\): choose another one with --data-dir\ncode: InvalidDataDirectory/,
    ),
  ]);
  // In Node, a recursive mkdir never ends here.
  const proc = up('--data-dir', '/proc/nowhere/data', '--port', '0');
  expect([await proc.ended(), proc.stderr()]).toEqual([
    1,
    expect.stringMatching(/^error: the data directory \/proc\/nowhere\/data cannot be made \(ENOENT: /),
  ]);
}, 60_000);

test('offshoot up refuses a port that is in use, and releases the data directory', async () => {
  const directory = newDirectory();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const run = up('--data-dir', directory, '--port', String(port));
  expect([await run.ended(), run.stdout(), run.stderr()]).toEqual([
    1,
    '',
    `error: the port ${port} of 127.0.0.1 is in use: choose another one, or 0 for a free one\ncode: PortInUse, see "offshoot errors PortInUse"\n`,
  ]);
  server.close();
  expect(existsSync(path.join(directory, 'server.pid'))).toBe(false);
}, 60_000);

test('offshoot up warns when the default port is in use and it takes another one', async () => {
  const server = createServer().listen(7443, '127.0.0.1');
  // Another process may already use the port.
  await Promise.race([once(server, 'listening'), once(server, 'error')]).catch(() => undefined);
  const run = up('--memory');
  const { port } = new URL((await run.ready()).api);
  expect(port).not.toBe('7443');
  expect(run.stderr()).toBe(
    `Warning: port 7443 is in use, so the API listens on port ${port}; kubeconfigs of earlier runs do not lead there. --port chooses one that stays.\n`,
  );
  expect(await stop(run)).toBe(0);
  server.close();
}, 60_000);

test('offshoot up --memory leaves nothing behind', async () => {
  const run = up('--memory', '--port', '0');
  const { kubeconfig } = await run.ready();
  expect(existsSync(kubeconfig)).toBe(true);
  expect(await stop(run)).toBe(0);
  expect(existsSync(path.dirname(kubeconfig))).toBe(false);
}, 60_000);

test('offshoot up --memory leaves nothing behind when it cannot start', async () => {
  const directory = newDirectory();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const run = started(['--memory', '--port', String(port)], { TMPDIR: directory });
  expect([await run.ended(), readdirSync(directory)]).toEqual([1, []]);
  server.close();
}, 60_000);

describe('--merge-kubeconfig', () => {
  const userConfig = 'apiVersion: v1\nkind: Config\ncurrent-context: work\ncontexts:\n- name: work\n  context: {}\n';

  /** Starts with a kubeconfig of the user. */
  function upWith(file: string, ...args: string[]): Run {
    return started(['--no-controllers', '--memory', '--port', '0', '--merge-kubeconfig', ...args], {
      KUBECONFIG: file,
    });
  }

  test('sets the current context while the cluster runs, and removes it afterwards', async () => {
    const file = path.join(newDirectory(), 'config');
    writeFileSync(file, userConfig);
    const run = upWith(file);
    const { api } = await run.ready();
    expect(run.stdout()).toContain('"context":"offshoot"');
    expect(loadConfig({ path: file })).toMatchObject({ server: api });
    const client = clientOf(file);
    await client.create(ConfigMap, configMap('reached'));
    client.close();
    expect([await stop(run), run.stderr()]).toEqual([0, '']);
    expect(parse(readFileSync(file, 'utf8'))).toMatchObject({
      'current-context': 'work',
      contexts: [{ name: 'work' }],
      clusters: [],
      users: [],
    });
  }, 60_000);

  test('works when KUBECONFIG is the file of --kubeconfig', async () => {
    const file = path.join(newDirectory(), 'config');
    const run = upWith(file, '--kubeconfig', file);
    const { api, kubeconfig } = await run.ready();
    expect([kubeconfig, loadConfig({ path: file }).server]).toEqual([file, api]);
    expect([await stop(run), run.stderr()]).toEqual([0, '']);
    // The next run overwrites it.
    const again = upWith(file, '--kubeconfig', file);
    const { api: later } = await again.ready();
    expect(loadConfig({ path: file }).server).toBe(later);
    expect([await stop(again), again.stderr()]).toEqual([0, '']);
  }, 60_000);

  test('never removes other contexts from the kubeconfig', async () => {
    const file = path.join(newDirectory(), 'config');
    writeFileSync(file, userConfig);
    const run = upWith(file, '--kubeconfig', file);
    await run.ready();
    expect(loadConfig({ path: file, context: 'offshoot' })).toBeDefined();
    expect([await stop(run), run.stderr()]).toEqual([0, '']);
    expect(parse(readFileSync(file, 'utf8'))).toMatchObject({ 'current-context': 'work' });
    const refused = up('--memory', '--port', '0', '--kubeconfig', file);
    expect(await refused.ended()).toBe(1);
    expect(refused.stderr()).toContain(`--kubeconfig ${file}: it has other contexts (work), which would be lost`);
  }, 60_000);

  test('removes the kubeconfig afterwards if there was none before', async () => {
    const file = path.join(newDirectory(), 'config');
    const run = upWith(file);
    await run.ready();
    expect(existsSync(file)).toBe(true);
    expect([await stop(run), existsSync(file)]).toEqual([0, false]);
  }, 60_000);

  test('replaces the context of a killed process, and refuses that of a running one', async () => {
    const file = path.join(newDirectory(), 'config');
    writeFileSync(file, userConfig);
    const killed = upWith(file);
    await killed.ready();
    await stop(killed, 'SIGKILL');
    const second = upWith(file);
    const { api } = await second.ready();
    expect(loadConfig({ path: file, context: 'offshoot' }).server).toBe(api);
    const refused = upWith(file);
    expect(await refused.ended()).toBe(1);
    expect(refused.stderr()).toBe(
      `error: kubeconfig ${file}: its context "offshoot" is that of the process ${second.child.pid}, which runs; choose another name\ncode: InvalidKubeconfig, see "offshoot errors InvalidKubeconfig"\n`,
    );
    const other = upWith(file, 'other');
    const { api: elsewhere } = await other.ready();
    expect(loadConfig({ path: file }).server).toBe(elsewhere);
    expect([await stop(second), await stop(other)]).toEqual([0, 0]);
    expect(parse(readFileSync(file, 'utf8'))).toMatchObject({
      'current-context': 'work',
      contexts: [{ name: 'work' }],
    });
  }, 90_000);
});

test('offshoot up keeps running when clients disconnect during a response', async () => {
  const run = up('--memory', '--port', '0');
  const { api, kubeconfig } = await run.ready();
  const client = clientOf(kubeconfig);
  const { caPem: ca, certPem: cert, keyPem: key } = loadConfig({ path: kubeconfig });
  for (let round = 0; round < 20; round++) {
    const watchRequest = request(`${api}/api/v1/configmaps?watch=true`, { ca, cert, key, agent: false }).end();
    watchRequest.on('error', () => undefined);
    await once(watchRequest, 'response');
    watchRequest.destroy();
    const metadata = { ...kept, name: `kept-${round}` };
    await client.create(ConfigMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { big: 'x'.repeat(500_000) },
    });
  }
  expect((await client.list(ConfigMap, { namespace: 'default' })).items.length).toBeGreaterThanOrEqual(20);
  client.close();
  expect([await stop(run), run.stderr()]).toEqual([0, '']);
}, 60_000);

test('offshoot up exits when it cannot write the kubeconfig', async () => {
  const run = upWithControllers('--memory', '--port', '0', '--kubeconfig', '/dev/null/kubeconfig');
  expect([await run.ended(), run.stdout()]).toEqual([1, '']);
  expect(run.stderr()).toMatch(/^error: .*\/dev\/null\b/);
}, 60_000);

test('offshoot up writes the kubeconfig to the given path, readable only by its owner', async () => {
  const file = path.join(newDirectory(), 'deep', 'config');
  const run = up('--memory', '--port', '0', '--kubeconfig', file);
  expect((await run.ready()).kubeconfig).toBe(file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await stop(run)).toBe(0);
}, 60_000);

test('offshoot claim kubeconfig contains the new port after a restart on another port', async () => {
  const directory = newDirectory();
  const port = await freePort();
  const first = upWithControllers('--data-dir', directory, '--port', String(port));
  const { kubeconfig, api } = await first.ready();
  const before = clientOf(kubeconfig);
  const spec = { provisioner: 'offshoot.dev/namespace', reclaimPolicy: 'Delete' };
  await before.create(Class, {
    apiVersion: appstudio,
    kind: 'DeploymentTargetClass',
    metadata: { name: 'local' },
    spec,
  });
  before.close();
  const runner = runnerFor(kubeconfig);
  expect(await runner.run('claim', 'create', 'it', '--class', 'local', '--wait')).toMatchObject({ code: 0 });
  expect(await stop(first)).toBe(0);
  // The old port is in use, and without controllers nothing issues new credentials.
  const taken = createServer().listen(port, '127.0.0.1');
  await once(taken, 'listening');
  const second = up('--data-dir', directory, '--port', '0');
  const restarted = await second.ready();
  const printed = await runner.run('claim', 'kubeconfig', 'it');
  expect(printed).toMatchObject({ code: 0, stderr: '' });
  const file = path.join(directory, 'it.kubeconfig');
  writeFileSync(file, printed.stdout);
  const config = loadConfig({ path: file, context: 'default/it' });
  expect([config.server, restarted.api]).toEqual([restarted.api, expect.not.stringContaining(api)]);
  const client = connect(config);
  const metadata = { name: 'kept', namespace: config.namespace! };
  await client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
  client.close();
  taken.close();
  expect(await stop(second)).toBe(0);
}, 90_000);

const appstudio = 'appstudio.redhat.com/v1alpha1';
const Claim = defineKind(appstudio, 'DeploymentTargetClaim', 'deploymenttargetclaims');
const Class = defineKind(appstudio, 'DeploymentTargetClass', 'deploymenttargetclasses', { namespaced: false });
const DynamicEnv = defineKind('riskified.com/v1alpha1', 'DynamicEnv', 'dynamicenvs');

// bin/offshoot.js may run the bundle: these tests check that no controller is missing in it.
test('offshoot run is refused while offshoot up runs the controllers, and works without them', async () => {
  const directory = newDirectory();
  const flags = ['--data-dir', directory, '--port', '0'];
  const first = upWithControllers(...flags);
  const { kubeconfig, pid } = await first.ready();
  const run = ['run', '--metrics-bind-address', '0', '--health-probe-bind-address', '0'];
  const refused = await runnerFor(kubeconfig).run(...run);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(`error: offshoot-up_${pid} runs the controllers of environments for this cluster`);
  // A killed process cannot release its leases.
  await stop(first, 'SIGKILL');
  const second = up(...flags);
  await second.ready();
  const started = runnerFor(kubeconfig).start(...run);
  await until(async () => started.output().includes('"msg":"running"'), 30_000);
  started.child.kill('SIGTERM');
  expect((await started.ended).code).toBe(0);
  expect(await stop(second)).toBe(0);
}, 90_000);

test('offshoot up runs all controllers and admission webhooks', async () => {
  const run = upWithControllers('--memory', '--port', '0');
  const client = clientOf((await run.ready()).kubeconfig);
  const metadata = { name: 'it', namespace: 'default' };
  const claim = { apiVersion: appstudio, kind: 'DeploymentTargetClaim', metadata };
  const environment = { apiVersion: 'riskified.com/v1alpha1', kind: 'DynamicEnv', metadata };
  for (const provisioner of ['offshoot.dev/namespace', 'appstudio.redhat.com/devsandbox']) {
    const name = provisioner.split('/')[1]!;
    const spec = { provisioner, reclaimPolicy: 'Delete', parameters: {} };
    await client.create(Class, { apiVersion: appstudio, kind: 'DeploymentTargetClass', metadata: { name }, spec });
    await client.create(Claim, {
      ...claim,
      metadata: { ...metadata, name },
      spec: { deploymentTargetClassName: name },
    });
    const bound = async (): Promise<boolean> => {
      const { status } = (await client.get(Claim, { ...metadata, name })) as AnyObject & {
        status?: { phase?: string };
      };
      return status?.phase === 'Bound';
    };
    await until(bound, 30_000);
  }
  const spec = { deploymentTargetClassName: 'namespace', ttl: 'soon' };
  await expect(client.create(Claim, { ...claim, spec })).rejects.toThrow('spec.ttl');
  const environmentWith = (istioMatches: readonly object[]): AnyObject => {
    const subsets = [{ name: 'gone', namespace: 'default', containers: [{ containerName: 'app', image: 'app:2' }] }];
    return { ...environment, spec: { istioMatches, subsets } };
  };
  await expect(client.create(DynamicEnv, environmentWith([{}]))).rejects.toThrow(
    'empty IstioMatch is invalid for DynamicEnv',
  );
  await client.create(DynamicEnv, environmentWith([{ headers: { 'x-env': { exact: 'it' } } }]));
  await until(async () => {
    const { status } = (await client.get(DynamicEnv, metadata)) as AnyObject & { status?: { state?: string } };
    return status?.state === 'degraded';
  }, 30_000);
  client.close();
  expect(await stop(run)).toBe(0);
  expect(run.stderr()).toBe('');
}, 90_000);
