// The examples of the guides work as programs.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { checkManifests } from '../src/cli/manifests/check.ts';
import { claimChecks } from '../src/cli/claim/checks.ts';
import { environmentsIn } from '../src/cli/env/check.ts';
import { filesOf, readManifests } from '../src/cli/manifests/read.ts';
import { translationOf } from '../src/cli/routing/translate.ts';
import { startEmbedded } from '../src/embedded/index.ts';
import type { Embedded } from '../src/embedded/index.ts';
import { connect, defineKind, loadConfig } from '../src/kube/index.ts';
import type { AnyObject, Client } from '../src/kube/index.ts';
import { connectAdmin } from './support/connect-admin.ts';
import { Deployment, Namespace } from './support/core-kinds.ts';
import { findObject } from './support/find-object.ts';

const EXAMPLES = path.resolve(import.meta.dirname, '../examples');
const POLL = { timeout: 10_000, interval: 10 };
const FROM_SOURCE = new URL('support/libraries-from-source.ts', import.meta.url);

/** Starts an example with the libraries of this tree. */
function start(name: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const argv = ['--import', FROM_SOURCE.href, path.join(EXAMPLES, `${name}.ts`), ...args];
  const child = spawn(process.execPath, argv, {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Has no effect on a program that has ended.
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** The output of an example, once it has ended. */
async function outputOf(child: ChildProcess): Promise<string[]> {
  const [output, [code]] = await Promise.all([text(child.stdout!), once(child, 'exit')]);
  expect(code).toBe(0);
  return output.trimEnd().split('\n');
}

test('test-bed.ts: serves a cluster without controllers', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-test-bed-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const kubeconfig = path.join(dir, 'kubeconfig');
  const child = start('test-bed', [kubeconfig]);
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  expect(line.toString()).toBe('ready\n');
  const client = connect(loadConfig({ path: kubeconfig }));
  const { items } = await client.list(defineKind('v1', 'ServiceAccount', 'serviceaccounts'));
  expect(items).toEqual([]);
  client.close();
});

test('routing.yaml: every object is translated, without diagnostics', () => {
  const filename = [path.join(EXAMPLES, 'routing.yaml')];
  const flags = { filename, to: 'appmesh-api', mode: 'strict', allowAll: true, output: 'json' } as const;
  const { text: printed, error } = translationOf(flags);
  expect([error, JSON.parse(printed)]).toMatchObject([
    undefined,
    { virtualNodes: { 'orders-v1': {}, 'orders-v2': {} }, routes: expect.anything(), diagnostics: [] },
  ]);
});

test('watchable.ts: a component is notified of changes only', async () => {
  expect(await outputOf(start('watchable'))).toEqual([
    'tea: 2 left',
    'coffee: 5 left',
    'coffee: sold out',
    'tea: no longer sold',
  ]);
});

test('derive.ts: a translator runs for changed inputs, and two components are notified of changed results', async () => {
  expect(await outputOf(start('derive'))).toEqual([
    'translator: internal',
    'translator: public',
    'server: internal listens on 80 for nobody',
    'reporter: internal has 0 hosts',
    'server: public listens on 443 for nobody',
    'reporter: public has 0 hosts',
    'translator: public',
    'server: public listens on 443 for shop.example.com',
    'reporter: public has 1 hosts',
    'translator: public',
    'translator: public',
    'what if: {"port":8443,"hosts":["shop.example.com"]}',
    'server: internal is gone',
    'reporter: internal is gone',
  ]);
});

test('embedded.ts: a cluster runs a workload', async () => {
  expect(await outputOf(start('embedded'))).toEqual(['2 pods of web run']);
});

test('dynamicenv.yaml: the environment of the reference page is valid', () => {
  const [env] = environmentsIn([path.join(EXAMPLES, 'dynamicenv.yaml')], {}, 'default');
  expect(env?.metadata).toEqual({ name: 'checkout-fix', namespace: 'shop' });
});

test('shop.yaml: each port has a name from which Istio derives the protocol', () => {
  const services = readManifests([path.join(EXAMPLES, 'shop.yaml')])
    .map(({ object }) => object as AnyObject & { spec: { ports: readonly { name?: string }[] } })
    .filter(({ kind }) => kind === 'Service');
  expect(services.map(({ spec }) => spec.ports.map(({ name }) => name))).toEqual([['http'], ['http']]);
});

test('classes.yaml, claim.yaml: the objects of the guide are valid', () => {
  const files = ['classes.yaml', 'claim.yaml'].flatMap((name) => filesOf(path.join(EXAMPLES, name)));
  expect(checkManifests(files, 'default', claimChecks)).toMatchObject({
    findings: [],
    valid: expect.arrayContaining(['deploymenttargetclass/preview', 'deploymenttargetclaim/team/staging']),
  });
});

describe('with a cluster', () => {
  const ResourceQuota = defineKind('v1', 'ResourceQuota', 'resourcequotas');
  let dir: string;
  let cluster: Embedded;
  let client: Client;
  const environment = (): NodeJS.ProcessEnv => ({ KUBECONFIG: path.join(dir, 'kubeconfig') });

  beforeAll(async () => {
    dir = mkdtempSync(path.join(tmpdir(), 'offshoot-examples-'));
    cluster = await startEmbedded();
    writeFileSync(path.join(dir, 'kubeconfig'), cluster.kubeconfig());
    client = connectAdmin(cluster);
  });

  afterAll(async () => {
    client.close();
    await cluster.stop();
    rmSync(dir, { recursive: true });
  });

  test('kube.ts: waits for the pods of a Deployment', async () => {
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
    await client.create(Deployment, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default' },
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    });
    const lines = await outputOf(start('kube', ['default', 'web'], environment()));
    expect(lines.at(-1)).toBe('default/web: 2 of 2 pods are ready');
  });

  test('controller.ts: a quota follows the label of its namespace, and is recreated when deleted', async () => {
    const child = start('controller', [], environment());
    const ended = outputOf(child);
    const team = { name: 'team' };
    await client.create(Namespace, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'team', labels: label('5') },
    });
    await expect.poll(quota, POLL).toBe('5');
    await client.patch(Namespace, team, { type: 'merge', body: { metadata: { labels: label('7') } } });
    await expect.poll(quota, POLL).toBe('7');
    await client.delete(ResourceQuota, { name: 'pods', namespace: 'team' });
    await expect.poll(quota, POLL).toBe('7');
    await client.patch(Namespace, team, { type: 'merge', body: { metadata: { labels: label(null) } } });
    await expect.poll(quota, POLL).toBeUndefined();
    child.kill('SIGTERM');
    await ended;
  });

  function label<T>(pods: T): { 'example.com/pods': T } {
    return { 'example.com/pods': pods };
  }

  /** How many pods the quota of the team allows; undefined if it has none. */
  async function quota(): Promise<unknown> {
    const found: AnyObject | undefined = await findObject(client, ResourceQuota, { name: 'pods', namespace: 'team' });
    return (found?.['spec'] as { hard?: { pods?: string } } | undefined)?.hard?.pods;
  }
});

test('the guide shows the examples unchanged', () => {
  const guide = readFileSync(path.resolve(EXAMPLES, '../docs/guide/library.md'), 'utf8');
  for (const name of ['watchable', 'derive', 'kube', 'controller', 'embedded']) {
    const code = readFileSync(path.join(EXAMPLES, `${name}.ts`), 'utf8').trimEnd();
    expect(guide.includes(`\`\`\`ts\n${code}\n\`\`\``), `docs/guide/library.md does not show examples/${name}.ts`).toBe(
      true,
    );
  }
});
