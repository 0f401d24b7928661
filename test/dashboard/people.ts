// Users with different permissions, each with the token of a service account, and a dashboard for them.
import { createLogger, Manager } from '../../src/controller/index.ts';
import { serveDashboard } from '../../src/cli/run/dashboard.ts';
import type { ServeDashboard } from '../../src/cli/run/dashboard.ts';
import type { ControlPlane } from '../../src/cli/run/control-plane.ts';
import type { Dashboard } from '../../src/dashboard/index.ts';
import { apiVersionOf, defineKind, loadConfig } from '../../src/kube/index.ts';
import type { AnyKind, Client } from '../../src/kube/index.ts';
import type { Cluster } from '../cluster/index.ts';
import { connectWithPermissions } from '../support/with-permissions.ts';
import { ask } from './page.ts';

const RBAC = 'rbac.authorization.k8s.io';
export const ServiceAccount = defineKind('v1', 'ServiceAccount', 'serviceaccounts');
const RoleBinding = defineKind(`${RBAC}/v1`, 'RoleBinding', 'rolebindings');
const ClusterRoleBinding = defineKind(`${RBAC}/v1`, 'ClusterRoleBinding', 'clusterrolebindings', { namespaced: false });

async function create(client: Client, kind: AnyKind, name: string, namespace: string, fields: object = {}) {
  const metadata = { name, ...(kind.namespaced && { namespace }) };
  await client.create(kind, { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, ...fields });
}

/** Creates a user (a service account), and returns its token. */
export async function makePerson(client: Client, name: string, namespace: string): Promise<string> {
  await create(client, ServiceAccount, name, namespace);
  const { status } = await client.raw<{ readonly status: { readonly token: string } }>({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } },
  });
  return status.token;
}

/** Binds a user to a ClusterRole, in its namespace or everywhere. Returns a function that deletes the binding. */
export async function grant(
  client: Client,
  person: { readonly name: string; readonly namespace: string },
  role: string,
  where: 'namespace' | 'everywhere' = 'namespace',
): Promise<() => Promise<unknown>> {
  const { name, namespace } = person;
  const kind = where === 'everywhere' ? ClusterRoleBinding : RoleBinding;
  const binding = `${name}-${role}`;
  await create(client, kind, binding, namespace, {
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
  });
  return () => client.delete(kind, { name: binding, ...(kind.namespaced && { namespace }) });
}

/** Serves the dashboard of a control plane, as `offshoot run --dashboard` does. */
export function dashboardOf(
  cluster: Pick<Cluster, 'kubeconfigPath'>,
  plane: ServeDashboard['plane'],
  options: Partial<ServeDashboard> = {},
): Promise<Dashboard> {
  return serveDashboard({
    config: loadConfig({ path: cluster.kubeconfigPath }),
    plane,
    namespace: 'offshoot-system',
    address: { port: 0 },
    sessionMs: 3_600_000,
    settings: {},
    logger: createLogger({ level: 'error' }),
    ...options,
  });
}

/** A client and manager with the permissions of the dashboard's own role, without any controllers. */
export async function withDashboardPermissions(
  cluster: Cluster,
): Promise<Pick<ControlPlane, 'client' | 'manager' | 'stop'>> {
  const { kubeconfigPath } = cluster;
  const client = await connectWithPermissions({ kubeconfigPath, client: cluster.client() }, 'dashboard');
  const manager = new Manager({ client, controllers: [], logger: createLogger({ level: 'error' }) });
  await manager.start();
  const stop = async (): Promise<void> => {
    await manager.stop();
    client.close();
  };
  return { client, manager, stop };
}

/** Signs a user in, and returns the header that the browser then sends. */
export async function signIn(url: string, token: string): Promise<{ readonly cookie: string }> {
  const { status, body, headers } = await ask(url, 'POST', '/api/session', { body: { token } });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return { cookie: headers['set-cookie']![0]!.split(';')[0]! };
}
