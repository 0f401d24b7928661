// The objects of an installation, made from its values: what the templates of deploy/chart render, object by object.
// test/chart.test.ts holds both to the same files.
import type { AnyObject } from '../../kube/objects.ts';
import { dashboardRights, partData } from './chart-data.ts';
import type { PartData } from './chart-data.ts';
import { dashboardObjects } from './dashboard.ts';
import { NAME, SELECTOR } from './installation.ts';
import type { Installation } from './installation.ts';
import { monitoringObjects } from './monitoring.ts';
import { inNamespace, limitedRights } from './rights.ts';
import type { Values } from './values.ts';
import { webhookObjects } from './webhook.ts';
import { workloadObjects } from './workload.ts';

/** All objects, in the order in which they are applied; the namespace is not among them. */
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
    ...rightsOf(parts, installation),
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

/** The service account, and the roles of what runs bound to it in the namespace of the installation. */
function rightsOf(parts: readonly PartData[], { values, namespace }: Installation): AnyObject[] {
  const { annotations } = values.serviceAccount;
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: NAME, namespace, ...(Object.keys(annotations).length > 0 && { annotations }) },
  };
  if (values.namespaces.length > 0) return [account, ...limitedRights(parts, values.namespaces, namespace)];
  const rights = new Map<string, AnyObject>();
  const all = [...parts.flatMap((part) => part.rights), ...(values.dashboard.enabled ? dashboardRights : [])];
  for (const object of all) {
    // Parts with a webhook share a Role.
    const id = `${object.kind} ${object.metadata.name}`;
    if (!rights.has(id)) rights.set(id, inNamespace(object, namespace));
  }
  return [account, ...rights.values()];
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
