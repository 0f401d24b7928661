// The controllers of routing rules with the rights of deploy/routing-rbac.yaml and no others.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { Mesh, RoutingRule } from '../src/api/routing.ts';
import { startControlPlane } from '../src/cli/run/control-plane.ts';
import type { ControlPlane } from '../src/cli/run/control-plane.ts';
import { installDefinitions } from '../src/cli/run/crds.ts';
import { partsOf } from '../src/cli/run/parts.ts';
import { createLogger } from '../src/controller/index.ts';
import { appMeshDefinitions } from '../src/embedded/crd/bundled/app-mesh.ts';
import { startEmbedded } from '../src/embedded/index.ts';
import { connect, defineKind, isNotFound, loadConfig } from '../src/kube/index.ts';
import type { AnyObject, Client, ConnectConfig, KubeObject } from '../src/kube/index.ts';
import { VirtualRouter } from '../src/routing/objects.ts';
import { describeReal } from './cluster/index.ts';
import { startRealCluster } from './cluster/real.ts';
import { inProcess } from './scenarios/hands.ts';
import { install } from './scenarios/install.ts';
import { until } from './support/until.ts';

const RBAC = path.resolve(import.meta.dirname, '../deploy/routing-rbac.yaml');
const SCENARIO = path.resolve(import.meta.dirname, 'routing/scenarios/rule-comes-and-goes');
const ACCOUNT = 'system:serviceaccount:offshoot-system:offshoot';
const GROUPS = ['system:serviceaccounts', 'system:serviceaccounts:offshoot-system', 'system:authenticated'];
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
const NS = 'shop';

interface Running {
  readonly config: ConnectConfig;
  stop(): Promise<void>;
}

describe('rights (embedded)', () => {
  suite(async () => {
    const embedded = await startEmbedded();
    const { url: server, caPem, admin } = embedded;
    return { config: { server, caPem, token: admin.token }, stop: () => embedded.stop() };
  });
});

// With a cluster of its own: the controllers of other suites would do what these may not.
describeReal('rights', () => {
  suite(async () => {
    const cluster = await startRealCluster({ scheduler: false, kubelet: false });
    return { config: loadConfig({ path: cluster.kubeconfigPath }), stop: () => cluster.stop() };
  });
});

function suite(start: () => Promise<Running>): void {
  let cluster: Running;
  let admin: Client;
  let plane: ControlPlane;
  /** What the controllers were not allowed to do. */
  const refused: string[] = [];
  const refusal = new AbortController();
  const note = (line: string): void => {
    if (!/forbidden/i.test(line)) return;
    refused.push(line);
    // A start would wait for the right for ever.
    refusal.abort(new Error(line));
  };

  beforeAll(async () => {
    cluster = await start();
    const { config } = cluster;
    admin = connect(config);
    await installDefinitions(admin, partsOf(['routing']));
    await install(admin, Object.values(appMeshDefinitions()) as unknown as AnyObject[]);
    for (const document of parseAllDocuments(readFileSync(RBAC, 'utf8'))) await apply(document.toJS() as AnyObject);
    await admin.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NS } });
    plane = await startControlPlane({
      config: { ...config, impersonate: { user: ACCOUNT, groups: GROUPS } },
      parts: partsOf(['routing']),
      namespace: 'offshoot-system',
      leaderElect: true,
      signal: refusal.signal,
      logger: createLogger({ level: 'warn', write: note }),
    });
  });

  afterAll(async () => {
    await plane?.stop();
    admin?.close();
    await cluster?.stop();
  });

  async function apply(object: AnyObject): Promise<void> {
    const { apiVersion, kind, metadata } = object;
    const of = defineKind(apiVersion, kind, `${kind.toLowerCase()}s`, { namespaced: metadata.namespace !== undefined });
    await admin.patch(of, metadata, { type: 'apply', body: object, force: true }, { fieldManager: 'test' });
  }

  function objectsOf(move: string): AnyObject[] {
    const text = readFileSync(path.join(SCENARIO, `${move}.yaml`), 'utf8').replaceAll('$ns', NS);
    return parseAllDocuments(text).map((document) => document.toJS() as AnyObject);
  }

  async function isReady(): Promise<boolean> {
    const rule = (await admin.get(RoutingRule, { name: 'cart', namespace: NS })) as KubeObject & {
      status?: { state?: number };
    };
    return rule.status?.state === 1;
  }

  test('rules come, change and go with them', async () => {
    // Without a scheduler pods of a real cluster stay where they are; they are only read.
    const hands = inProcess(admin);
    await hands.apply([...objectsOf('00-apply'), ...objectsOf('01-apply')]);
    await until(async () => refused.length > 0 || (await isReady()), 30_000);
    expect(refused).toEqual([]);
    await hands.delete(objectsOf('04-delete'));
    await until(async () => refused.length > 0 || (await admin.list(VirtualRouter)).items.length === 0, 30_000);
    await admin.delete(Mesh, { name: NS, namespace: NS });
    const isGone = (): Promise<boolean> => admin.get(Mesh, { name: NS, namespace: NS }).then(() => false, isNotFound);
    await until(async () => refused.length > 0 || (await isGone()), 30_000);
    expect(refused).toEqual([]);
  }, 90_000);
}
