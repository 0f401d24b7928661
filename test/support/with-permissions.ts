// Runs a part of the control plane with only the permissions of its manifest in `deploy`, as in a cluster.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { startControlPlane } from '../../src/cli/run/control-plane.ts';
import type { ControlPlane, ControlPlaneOptions } from '../../src/cli/run/control-plane.ts';
import { installDefinitions } from '../../src/cli/run/crds.ts';
import { refuseSecondWriter } from '../../src/cli/run/lease-holders.ts';
import { partsOf } from '../../src/cli/run/parts.ts';
import { createLogger } from '../../src/controller/index.ts';
import { connect, defineKind, loadConfig, reviewAccess } from '../../src/kube/index.ts';
import type { AnyObject, Client } from '../../src/kube/index.ts';
import { Secret } from '../../src/targets/objects.ts';
import type { Cluster } from '../cluster/index.ts';
import { until } from './until.ts';
import { parseObjects } from './parse-objects.ts';

const NAMESPACE = 'offshoot-system';
export const ACCOUNT = `system:serviceaccount:${NAMESPACE}:offshoot`;
export const GROUPS = ['system:serviceaccounts', `system:serviceaccounts:${NAMESPACE}`, 'system:authenticated'];

/** A rule of a role. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Parts with their own role in `deploy`. */
export type PartWithPermissions = 'dashboard' | 'environments' | 'mesh' | 'routing' | 'targets';
export type PartWithControllers = Exclude<PartWithPermissions, 'dashboard'>;
export type PermissionsOptions = Pick<ControlPlaneOptions, 'mesh' | 'namespaces' | 'settings' | 'webhook'>;

export interface WithPermissions {
  readonly plane: ControlPlane;
  /** Log lines of requests that were forbidden. */
  readonly refused: readonly string[];
}

/** The objects in the manifest of a part. */
export function manifestOf(part: PartWithPermissions): readonly AnyObject[] {
  const file = path.resolve(import.meta.dirname, `../../deploy/${part}-rbac.yaml`);
  return parseObjects(readFileSync(file, 'utf8'));
}

/** Installs the definitions and the roles of a part. */
export async function installPermissions(cluster: Cluster, part: PartWithControllers): Promise<void> {
  await installDefinitions(cluster.client(), partsOf([part]));
  await applyPermissions(cluster, part);
}

/** Applies the roles of a manifest in `deploy`. */
export async function applyPermissions(cluster: Cluster, part: PartWithPermissions): Promise<void> {
  const admin = cluster.client();
  for (const object of manifestOf(part)) await installObject(admin, object);
  await untilGranted(admin, ACCOUNT, rolesOfAccount(part));
}

/** The roles that are bound to the account of the controllers, not those for users. */
export function rolesOfAccount(part: PartWithPermissions): readonly AnyObject[] {
  return manifestOf(part).filter(
    ({ kind, metadata: { name } }) =>
      (kind === 'ClusterRole' && name === `offshoot-${part}`) || (kind === 'Role' && name.startsWith('offshoot')),
  );
}

/** Resolves when the server has noticed roles and their bindings: until then it refuses requests. */
async function untilGranted(admin: Client, username: string, roles: readonly AnyObject[]): Promise<void> {
  const user = { username, groups: GROUPS };
  for (const role of roles) {
    const { namespace } = role.metadata;
    // One without a subresource, which the review takes in another field.
    const rules = (role['rules'] as readonly Rule[]).flatMap((rule) =>
      rule.resources.map((resource) => ({ ...rule, resource })),
    );
    const { apiGroups, verbs, resource, resourceNames } = rules.find((rule) => !rule.resource.includes('/'))!;
    const permission = { group: apiGroups[0]!, resource, verb: verbs[0]!, name: resourceNames?.[0], namespace };
    await until(() => reviewAccess(admin, user, permission));
  }
}

/** The account of one part on a shared cluster: permissions of other parts must not help. */
export function accountOf(part: PartWithPermissions): string {
  return `${ACCOUNT}-${part}`;
}

/** A client with only the permissions of one part, without those for the Lease and webhook of controllers. */
export async function connectWithPermissions(
  { kubeconfigPath, client }: { readonly kubeconfigPath: string; readonly client: Client },
  part: PartWithPermissions,
): Promise<Client> {
  const subjects = [{ kind: 'ServiceAccount', name: `offshoot-${part}`, namespace: NAMESPACE }];
  for (const object of manifestOf(part)) {
    const { kind, metadata } = object;
    if (metadata.name !== `offshoot-${part}` || (metadata.namespace !== undefined && part !== 'dashboard')) continue;
    // Another name than the binding of the account with the permissions of all parts.
    const bound = { ...object, metadata: { ...metadata, name: `${metadata.name}-alone` }, subjects };
    await installObject(client, kind.endsWith('Binding') ? bound : object);
  }
  const role = rolesOfAccount(part).filter(({ kind }) => kind === 'ClusterRole');
  await untilGranted(client, accountOf(part), role);
  return connect({ ...loadConfig({ path: kubeconfigPath }), impersonate: { user: accountOf(part), groups: GROUPS } });
}

/** Applies an object as an administrator: a role, a binding, a namespace. */
export async function installObject(client: Client, object: AnyObject): Promise<void> {
  const { apiVersion, kind, metadata } = object;
  const of = defineKind(apiVersion, kind, `${kind.toLowerCase()}s`, { namespaced: metadata.namespace !== undefined });
  await client.patch(of, metadata, { type: 'apply', body: object, force: true }, { fieldManager: 'test' });
}

/** Empties the certificate of the webhook; resolves when the controllers have issued another one. */
export async function spoilCertificate(admin: Client): Promise<void> {
  const ref = { namespace: NAMESPACE, name: 'offshoot-webhook-tls' };
  await admin.patch(Secret, ref, { type: 'merge', body: { data: { 'tls.crt': '', 'tls.key': '' } } });
  await until(async () => (await admin.get(Secret, ref)).data?.['tls.crt'] !== '');
}

/** Starts a part as its service account. */
export async function startWithPermissions(
  cluster: Pick<Cluster, 'kubeconfigPath'>,
  part: PartWithControllers,
  options: PermissionsOptions = {},
): Promise<WithPermissions> {
  const refused: string[] = [];
  const refusal = new AbortController();
  const write = (line: string): void => {
    if (!/forbidden|could not check/i.test(line)) return;
    refused.push(line);
    // The start would wait for the permission forever.
    refusal.abort(new Error(line));
  };
  const logger = createLogger({ level: 'warn', write });
  const parts = partsOf([part]);
  const { namespaces } = options;
  const plane = await startControlPlane({
    config: { ...loadConfig({ path: cluster.kubeconfigPath }), impersonate: { user: ACCOUNT, groups: GROUPS } },
    parts,
    namespace: NAMESPACE,
    leaderElect: true,
    signal: refusal.signal,
    logger,
    prepare: (client) =>
      refuseSecondWriter(client, parts, { namespace: NAMESPACE, leaderElect: true, namespaces, logger }),
    ...options,
  });
  return { plane, refused };
}
