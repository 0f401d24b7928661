// The controllers of routing rules with the rights of deploy/routing-rbac.yaml and no others.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Mesh, RoutingRule } from '../src/api/routing.ts';
import type { ControlPlane } from '../src/cli/run/control-plane.ts';
import { appMeshDefinitions } from '../src/embedded/crd/bundled/app-mesh.ts';
import { defineKind, isNotFound } from '../src/kube/index.ts';
import type { AnyObject, Client, KubeObject } from '../src/kube/index.ts';
import { VirtualRouter } from '../src/routing/objects.ts';
import { describeOwnClusters } from './cluster/index.ts';
import { inProcess } from './scenarios/hands.ts';
import { install } from './scenarios/install.ts';
import { until } from './support/until.ts';
import { installRights, startWithRights } from './support/with-rights.ts';
import { testUsedRights } from './support/used-rights.ts';
import { parseObjects } from './support/parse-objects.ts';

const SCENARIO = path.resolve(import.meta.dirname, 'routing/scenarios/rule-comes-and-goes');
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
const NS = 'shop';

// With clusters of their own: the controllers of other suites would do what these may not.
describeOwnClusters('rights', (cluster) => {
  let admin: Client;
  let plane: ControlPlane | undefined;
  let refused: readonly string[];

  beforeAll(async () => {
    admin = cluster.client();
    await installRights(cluster, 'routing');
    await admin.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NS } });
    ({ plane, refused } = await startWithRights(cluster, 'routing'));
  });

  afterAll(async () => {
    await plane?.stop();
  });

  function objectsOf(move: string): AnyObject[] {
    const text = readFileSync(path.join(SCENARIO, `${move}.yaml`), 'utf8').replaceAll('$ns', NS);
    return parseObjects(text);
  }

  async function stateOf(): Promise<number | undefined> {
    const rule = (await admin.get(RoutingRule, { name: 'cart', namespace: NS })) as KubeObject & {
      status?: { state?: number };
    };
    return rule.status?.state;
  }

  test('rules come, change and go with them', async () => {
    const hands = inProcess(admin);
    await hands.apply([...objectsOf('00-apply'), ...objectsOf('01-apply')]);
    await until(async () => refused.length > 0 || (await stateOf()) !== undefined, 30_000);
    // Kinds that come later are noticed.
    await install(admin, Object.values(appMeshDefinitions()) as unknown as AnyObject[]);
    await until(async () => refused.length > 0 || (await stateOf()) === 1, 30_000);
    expect(refused).toEqual([]);
    await hands.delete(objectsOf('04-delete'));
    await until(async () => refused.length > 0 || (await admin.list(VirtualRouter)).items.length === 0, 30_000);
    await admin.delete(Mesh, { name: NS, namespace: NS });
    const isGone = (): Promise<boolean> => admin.get(Mesh, { name: NS, namespace: NS }).then(() => false, isNotFound);
    await until(async () => refused.length > 0 || (await isGone()), 30_000);
    expect(refused).toEqual([]);
  }, 90_000);

  testUsedRights(cluster, 'routing', 'rights');
});
