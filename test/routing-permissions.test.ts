// The controllers of routing rules with only the permissions of deploy/routing-rbac.yaml.
import { expect, test } from 'vitest';
import { Mesh, RoutingRule } from '../src/api/routing.ts';
import { appMeshDefinitions } from '../src/embedded/crd/bundled/app-mesh.ts';
import { isNotFound } from '../src/kube/index.ts';
import type { AnyObject, Client, KubeObject } from '../src/kube/index.ts';
import { VirtualRouter } from '../src/routing/objects.ts';
import { describeOwnClusters } from './cluster/index.ts';
import { scenarios } from './routing/all.ts';
import { inProcess } from './scenarios/cluster-actions.ts';
import { install } from './scenarios/install.ts';
import { Namespace } from './support/core-kinds.ts';
import { usePermissions } from './support/permissions-suite.ts';
import { testUsedPermissions } from './support/used-permissions.ts';

const NS = 'shop';
const objectsOf = (move: string): readonly AnyObject[] => scenarios.objects('rule-comes-and-goes', move, { ns: NS });

// On its own clusters: the controllers of other suites would do what these may not.
describeOwnClusters('with the permissions of routing', (cluster) => {
  let admin: Client;
  const permissions = usePermissions(cluster, 'routing', {
    prepare(client) {
      admin = client;
      return admin.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NS } });
    },
  });

  async function stateOf(): Promise<number | undefined> {
    const rule = (await admin.get(RoutingRule, { name: 'cart', namespace: NS })) as KubeObject & {
      status?: { state?: number };
    };
    return rule.status?.state;
  }

  test('rules are created, translated and deleted', async () => {
    const actions = inProcess(admin);
    await actions.apply([...objectsOf('00-apply'), ...objectsOf('01-apply')]);
    await permissions.until(async () => (await stateOf()) !== undefined, 30_000);
    // The controllers notice kinds that are installed later.
    await install(admin, Object.values(appMeshDefinitions()) as unknown as AnyObject[]);
    await permissions.until(async () => (await stateOf()) === 1, 30_000);
    await actions.delete(objectsOf('04-delete'));
    await permissions.until(async () => (await admin.list(VirtualRouter)).items.length === 0, 30_000);
    await admin.delete(Mesh, { name: NS, namespace: NS });
    const isGone = (): Promise<boolean> => admin.get(Mesh, { name: NS, namespace: NS }).then(() => false, isNotFound);
    await permissions.until(isGone, 30_000);
    expect(permissions.refused).toEqual([]);
  }, 90_000);

  testUsedPermissions(cluster, 'routing', 'permissions');
});
