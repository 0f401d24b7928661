// Builds the objects of an installation from its values, the same objects that deploy/chart renders. test/chart.test.ts
// checks both against the same files.
import type { AnyObject } from '../../kube/objects.ts';
import { dashboardPermissions, partData } from './chart-data.ts';
import type { PartData } from './chart-data.ts';
import { dashboardObjects } from './dashboard.ts';
import { NAME, SELECTOR } from './installation.ts';
import type { Installation } from './installation.ts';
import { monitoringObjects } from './monitoring.ts';
import { inNamespace, limitedPermissions } from './permissions.ts';
import type { Values } from './values.ts';
import { webhookObjects } from './webhook.ts';
import { workloadObjects } from './workload.ts';

/** All objects except the namespace, in the order of applying. */
export function manifestsOf(installation: Installation): readonly AnyObject[] {
  const { values } = installation;
  const parts = partData.filter(({ name }) => values.parts[name]);
  if (parts.length === 0) throw new Error('parts: all are disabled; enable at least one');
  const isLimited = values.namespaces.length > 0;
  if (isLimited && (values.dashboard.enabled || parts.some(({ name }) => name !== 'environments')))
    throw new Error('namespaces: only environments stay in namespaces; disable the dashboard and all other parts');
  const served = values.webhook.enabled && !isLimited ? parts.filter(({ webhook }) => webhook !== undefined) : [];
  const objects = [
    ...(values.crds.install ? definitionsOf(parts, values) : []),
    ...permissionsOf(parts, installation),
    ...webhookObjects(served, installation),
    ...workloadObjects(parts, served.length > 0, installation),
    ...dashboardObjects(installation),
    ...monitoringObjects(installation),
  ];
  return objects.map((object) => labelled(object, installation));
}

function definitionsOf(parts: readonly PartData[], { crds }: Values): AnyObject[] {
  const definitions = parts.flatMap((part) => part.definitions);
  if (!crds.keep) return definitions;
  const annotations = { 'helm.sh/resource-policy': 'keep' };
  return definitions.map((object) => ({ ...object, metadata: { ...object.metadata, annotations } }));
}

/** The service account, and the roles of the enabled parts bound to it. */
function permissionsOf(parts: readonly PartData[], { values, namespace }: Installation): AnyObject[] {
  const { annotations } = values.serviceAccount;
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: NAME, namespace, ...(Object.keys(annotations).length > 0 && { annotations }) },
  };
  if (values.namespaces.length > 0) return [account, ...limitedPermissions(parts, values.namespaces, namespace)];
  const permissions = new Map<string, AnyObject>();
  const all = [...parts.flatMap((part) => part.permissions), ...(values.dashboard.enabled ? dashboardPermissions : [])];
  for (const object of all) {
    // Parts with a webhook share a Role.
    const id = `${object.kind} ${object.metadata.name}`;
    if (!permissions.has(id)) permissions.set(id, inNamespace(object, namespace));
  }
  return [account, ...permissions.values()];
}

function labelled(object: AnyObject, { version, managedBy }: Installation): AnyObject {
  const labels = {
    ...SELECTOR,
    'app.kubernetes.io/version': version,
    'app.kubernetes.io/managed-by': managedBy,
    ...object.metadata.labels,
  };
  return { ...object, metadata: { ...object.metadata, labels } };
}
