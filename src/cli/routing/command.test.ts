// Runs the commands for routing rules as processes with piped output, against a cluster with the controllers.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { mesh, meshGroup, routingRule, RoutingRule } from '../../api/routing.ts';
import { upstream } from '../../api/upstream.ts';
import { conditionsOf, createLogger, Manager } from '../../controller/index.ts';
import { appMeshDefinitions } from '../../embedded/crd/index.ts';
import { startEmbedded } from '../../embedded/index.ts';
import { connect, defineKind } from '../../kube/index.ts';
import type { AnyObject } from '../../kube/index.ts';
import { routing } from '../../routing/index.ts';
import { runnerFor } from '../testing/offshoot-process.ts';
import type { Runner } from '../testing/offshoot-process.ts';
import { parseObjects } from '../../../test/support/parse-objects.ts';

const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
  namespaced: false,
});
const PLURALS: Readonly<Record<string, string>> = { Mesh: 'meshes' };

let runner: Runner;
const closing: (() => Promise<unknown> | void)[] = [];

beforeAll(async () => {
  const cluster = await startEmbedded();
  closing.push(() => cluster.stop());
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-cli-'));
  closing.push(() => rmSync(dir, { recursive: true }));
  const kubeconfig = path.join(dir, 'kubeconfig');
  writeFileSync(kubeconfig, cluster.kubeconfig().replaceAll(/^(\s+)user: .*$/gm, '$&\n$1namespace: shop'));
  runner = runnerFor(kubeconfig);
  const client = connect({ server: cluster.url, caPem: cluster.caPem, token: cluster.admin.token });
  closing.push(() => client.close());
  const definitions = [mesh, meshGroup, routingRule, upstream].map(({ crd }) => crd);
  const others = Object.values(appMeshDefinitions()) as unknown as AnyObject[];
  for (const each of [...definitions, ...others]) await client.create(Definition, each);
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  const text = readFileSync(path.resolve(import.meta.dirname, '../../../examples/routing.yaml'), 'utf8');
  const objects = parseObjects(text);
  const rule = objects.find(({ kind }) => kind === 'RoutingRule');
  const broken = {
    ...rule!,
    metadata: { ...rule!.metadata, name: 'broken' },
    spec: { targetMesh: { name: 'nowhere' } },
  };
  for (const each of [...objects, broken]) {
    const plural = PLURALS[each.kind] ?? `${each.kind.toLowerCase()}s`;
    await client.create(defineKind(each.apiVersion, each.kind, plural), each);
  }
  const manager = new Manager({ client, controllers: routing(), logger: createLogger({ level: 'silent' }) });
  await manager.start();
  closing.push(() => manager.stop());
  await until(async () => {
    const found = (await client.list(RoutingRule)).items;
    const hasCondition = (name: string, type: string, status: string): boolean =>
      found.some(
        (each) =>
          each.metadata.name === name && conditionsOf(each).some((one) => one.type === type && one.status === status),
      );
    return hasCondition('orders-canary', 'Ready', 'True') && hasCondition('broken', 'Accepted', 'False');
  }, 20_000);
});

afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

test('list shows the state of each rule', async () => {
  const { stdout, code } = await runner.run('routing', 'list', '-o', 'wide');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^NAME +STATE +MESH +AGE +REASON\n/);
  expect(stdout).toMatch(/^orders-canary +Ready +shop /m);
  expect(stdout).toMatch(/^broken +Rejected +nowhere .*TARGET_MESH_NOT_FOUND: no target mesh/m);
});

test('describe shows the routes of a rule, or why there are none', async () => {
  const { stdout } = await runner.run('routing', 'describe', 'orders-canary');
  expect(stdout).toContain('RoutingRule shop/orders-canary  Ready');
  expect(stdout).toContain('VirtualService orders.shop.svc.cluster.local  port 8080');
  expect(stdout).toMatch(/VirtualNode orders-v1 {2}90 %/);
  const broken = await runner.run('routing', 'describe', 'broken', '-o', 'json');
  expect(JSON.parse(broken.stdout)).toMatchObject({
    rule: { state: 'Rejected', reasons: [expect.stringContaining('TARGET_MESH_NOT_FOUND')] },
  });
});

test('describe suggests a similar name for a rule that does not exist', async () => {
  const { stderr, code } = await runner.run('routing', 'describe', 'orders-canarry');
  expect(code).not.toBe(0);
  expect(stderr).toContain('orders-canary');
});

test('completion suggests names of rules', { timeout: 60_000 }, async () => {
  const offers = async (): Promise<string> => (await runner.run('complete', '--', 'routing', 'describe', 'ord')).stdout;
  // Completion gives up quickly on a slow cluster, so a busy machine may need another try.
  await until(async () => (await offers()).startsWith('orders-canary'), 25_000);
  expect(await offers()).not.toContain('broken');
});
