// A part of the control plane with the rights of its manifest in `deploy` and no others, as it runs in a cluster.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
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

const NAMESPACE = 'offshoot-system';
export const ACCOUNT = `system:serviceaccount:${NAMESPACE}:offshoot`;
export const GROUPS = ['system:serviceaccounts', `system:serviceaccounts:${NAMESPACE}`, 'system:authenticated'];

export type PartWithRights = 'environments' | 'mesh' | 'routing' | 'targets';

export interface WithRights {
  readonly plane: ControlPlane;
  /** What the controllers were not allowed to do. */
  readonly refused: readonly string[];
}

/** The objects of the manifest of a part. */
export function manifestOf(part: PartWithRights | 'dashboard'): readonly AnyObject[] {
  const file = path.resolve(import.meta.dirname, `../../deploy/${part}-rbac.yaml`);
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as AnyObject);
}

/** Installs the definitions and the roles of a part. */
export async function installRights(cluster: Cluster, part: PartWithRights): Promise<void> {
  await installDefinitions(cluster.client(), partsOf([part]));
  await applyRights(cluster, part);
}

/** Applies the roles of a manifest in `deploy`. */
export async function applyRights(cluster: Cluster, part: PartWithRights | 'dashboard'): Promise<void> {
  const admin = cluster.client();
  for (const object of manifestOf(part)) await installObject(admin, object);
}

/** The account of one part on a cluster that several share: rights of others must not help. */
export function accountOf(part: PartWithRights): string {
  return `${ACCOUNT}-${part}`;
}

/** A client for controllers without Lease and webhook, with the rights that their part has in the whole cluster. */
export async function connectWithRights(
  { kubeconfigPath, client }: { readonly kubeconfigPath: string; readonly client: Client },
  part: PartWithRights,
): Promise<Client> {
  const bound = manifestOf(part).filter(({ metadata }) => metadata.name === `offshoot-${part}`);
  for (const object of bound) {
    const subjects = [{ kind: 'ServiceAccount', name: `offshoot-${part}`, namespace: NAMESPACE }];
    if (object.kind === 'ClusterRole') await installObject(client, object);
    if (object.kind === 'ClusterRoleBinding') await installObject(client, { ...object, subjects });
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
  part: PartWithRights,
  options: Pick<ControlPlaneOptions, 'mesh' | 'namespaces' | 'settings' | 'webhook'> = {},
): Promise<WithRights> {
  const refused: string[] = [];
  const refusal = new AbortController();
  const write = (line: string): void => {
    if (!/forbidden/i.test(line)) return;
    refused.push(line);
    // A start would wait for the right for ever.
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
