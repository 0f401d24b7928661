// A part of the control plane with the rights of its manifest in `deploy` and no others, as it runs in a cluster.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { startControlPlane } from '../../src/cli/run/control-plane.ts';
import type { ControlPlane, ControlPlaneOptions } from '../../src/cli/run/control-plane.ts';
import { installDefinitions } from '../../src/cli/run/crds.ts';
import { partsOf } from '../../src/cli/run/parts.ts';
import { createLogger } from '../../src/controller/index.ts';
import { connect, defineKind, loadConfig } from '../../src/kube/index.ts';
import type { AnyObject, Client } from '../../src/kube/index.ts';
import { Secret } from '../../src/targets/objects.ts';
import type { Cluster } from '../cluster/index.ts';
import { until } from './until.ts';
import { parseObjects } from './parse-objects.ts';

const NAMESPACE = 'offshoot-system';
export const ACCOUNT = `system:serviceaccount:${NAMESPACE}:offshoot`;
export const GROUPS = ['system:serviceaccounts', `system:serviceaccounts:${NAMESPACE}`, 'system:authenticated'];

/** What has a role of its own in `deploy`. */
export type PartWithRights = 'dashboard' | 'environments' | 'mesh' | 'routing' | 'targets';
type PartWithControllers = Exclude<PartWithRights, 'dashboard'>;

export interface WithRights {
  readonly plane: ControlPlane;
  /** What the controllers were not allowed to do. */
  readonly refused: readonly string[];
}

/** The objects of the manifest of a part. */
export function manifestOf(part: PartWithRights): readonly AnyObject[] {
  const file = path.resolve(import.meta.dirname, `../../deploy/${part}-rbac.yaml`);
  return parseObjects(readFileSync(file, 'utf8'));
}

/** Installs the definitions and the roles of a part. */
export async function installRights(cluster: Cluster, part: PartWithControllers): Promise<void> {
  await installDefinitions(cluster.client(), partsOf([part]));
  await applyRights(cluster, part);
}

/** Applies the roles of a manifest in `deploy`. */
export async function applyRights(cluster: Cluster, part: PartWithRights): Promise<void> {
  const admin = cluster.client();
  for (const object of manifestOf(part)) await installObject(admin, object);
}

/** The account of one part on a cluster that several share: rights of others must not help. */
export function accountOf(part: PartWithRights): string {
  return `${ACCOUNT}-${part}`;
}

/** A client with the rights of one part and no others. Controllers get none to their Lease and webhook. */
export async function connectWithRights(
  { kubeconfigPath, client }: { readonly kubeconfigPath: string; readonly client: Client },
  part: PartWithRights,
): Promise<Client> {
  const subjects = [{ kind: 'ServiceAccount', name: `offshoot-${part}`, namespace: NAMESPACE }];
  for (const object of manifestOf(part)) {
    const { kind, metadata } = object;
    if (metadata.name !== `offshoot-${part}` || (metadata.namespace !== undefined && part !== 'dashboard')) continue;
    // Beside the binding of the account that has the rights of all parts.
    const bound = { ...object, metadata: { ...metadata, name: `${metadata.name}-alone` }, subjects };
    await installObject(client, kind.endsWith('Binding') ? bound : object);
  }
  return connect({ ...loadConfig({ path: kubeconfigPath }), impersonate: { user: accountOf(part), groups: GROUPS } });
}

/** Applies a role, binding, namespace or the like as an administrator. */
export async function installObject(client: Client, object: AnyObject): Promise<void> {
  const { apiVersion, kind, metadata } = object;
  const of = defineKind(apiVersion, kind, `${kind.toLowerCase()}s`, { namespaced: metadata.namespace !== undefined });
  await client.patch(of, metadata, { type: 'apply', body: object, force: true }, { fieldManager: 'test' });
}

/** Spoils the certificate of the webhook; resolves when the controllers have made another one. */
export async function spoilCertificate(admin: Client): Promise<void> {
  const ref = { namespace: NAMESPACE, name: 'offshoot-webhook-tls' };
  await admin.patch(Secret, ref, { type: 'merge', body: { data: { 'tls.crt': '', 'tls.key': '' } } });
  await until(async () => (await admin.get(Secret, ref)).data?.['tls.crt'] !== '');
}

/** Starts a part as its service account. */
export async function startWithRights(
  cluster: Pick<Cluster, 'kubeconfigPath'>,
  part: PartWithControllers,
  options: Pick<ControlPlaneOptions, 'mesh' | 'namespaces' | 'settings' | 'webhook'> = {},
): Promise<WithRights> {
  const refused: string[] = [];
  const refusal = new AbortController();
  const write = (line: string): void => {
    if (!/forbidden/i.test(line)) return;
    refused.push(line);
    // A start would wait for the right forever.
    refusal.abort(new Error(line));
  };
  const plane = await startControlPlane({
    config: { ...loadConfig({ path: cluster.kubeconfigPath }), impersonate: { user: ACCOUNT, groups: GROUPS } },
    parts: partsOf([part]),
    namespace: NAMESPACE,
    leaderElect: true,
    signal: refusal.signal,
    logger: createLogger({ level: 'warn', write }),
    ...options,
  });
  return { plane, refused };
}
