// A part of the control plane with the rights of its manifest in `deploy` and no others, as it runs in a cluster.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { startControlPlane } from '../../src/cli/run/control-plane.ts';
import type { ControlPlane, ControlPlaneOptions } from '../../src/cli/run/control-plane.ts';
import { installDefinitions } from '../../src/cli/run/crds.ts';
import { partsOf } from '../../src/cli/run/parts.ts';
import { createLogger } from '../../src/controller/index.ts';
import { defineKind, loadConfig } from '../../src/kube/index.ts';
import type { AnyObject } from '../../src/kube/index.ts';
import type { Cluster } from '../cluster/index.ts';

export const ACCOUNT = 'system:serviceaccount:offshoot-system:offshoot';
export const GROUPS = ['system:serviceaccounts', 'system:serviceaccounts:offshoot-system', 'system:authenticated'];

type PartWithRights = 'environments' | 'mesh' | 'routing' | 'targets';

export interface WithRights {
  readonly plane: ControlPlane;
  /** What the controllers were not allowed to do. */
  readonly refused: readonly string[];
}

/** Installs the definitions and the roles of a part. */
export async function installRights(cluster: Cluster, part: PartWithRights): Promise<void> {
  await installDefinitions(cluster.client(), partsOf([part]));
  await applyRights(cluster, part);
}

/** Applies the roles of a manifest in `deploy`. */
export async function applyRights(cluster: Cluster, part: PartWithRights | 'dashboard'): Promise<void> {
  const admin = cluster.client();
  const file = path.resolve(import.meta.dirname, `../../deploy/${part}-rbac.yaml`);
  for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) {
    const object = document.toJS() as AnyObject;
    const { apiVersion, kind, metadata } = object;
    const of = defineKind(apiVersion, kind, `${kind.toLowerCase()}s`, { namespaced: metadata.namespace !== undefined });
    await admin.patch(of, metadata, { type: 'apply', body: object, force: true }, { fieldManager: 'test' });
  }
}

/** Starts a part as its service account. */
export async function startWithRights(
  cluster: Pick<Cluster, 'kubeconfigPath'>,
  part: PartWithRights,
  options: Pick<ControlPlaneOptions, 'mesh' | 'webhook'> = {},
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
    namespace: 'offshoot-system',
    leaderElect: true,
    signal: refusal.signal,
    logger: createLogger({ level: 'warn', write }),
    ...options,
  });
  return { plane, refused };
}
