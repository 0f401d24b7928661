// The data of an installation: the definitions and roles of the parts, the alerts and the Grafana dashboard.
// scripts/bundle.ts replaces this module by its values.
import { readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';
import type { AnyObject, JsonObject } from '../../kube/objects.ts';
import { partsOf } from '../run/parts.ts';
import type { PartName } from './values.ts';

/** What a part installs in a cluster. */
export interface PartData {
  readonly name: PartName;
  readonly definitions: readonly AnyObject[];
  /** Its roles and bindings, from deploy/PART-rbac.yaml. */
  readonly permissions: readonly AnyObject[];
  /** The name of its webhook configuration. */
  readonly webhook?: string;
}

export const partData: readonly PartData[] = partsOf().map(({ name, resources, webhook }) => ({
  name: name as PartName,
  definitions: resources.map(({ crd }) => crd),
  permissions: permissionsOf(name),
  ...(webhook && { webhook: webhook.configurationName }),
}));

/** The roles of the dashboard, which is not a part. */
export const dashboardPermissions: readonly AnyObject[] = permissionsOf('dashboard');

function permissionsOf(part: string): AnyObject[] {
  const objects = parseAllDocuments(readText(`${part}-rbac.yaml`)).map((document) => document.toJS() as AnyObject);
  return objects.filter(({ kind }) => kind !== 'Namespace' && kind !== 'ServiceAccount');
}

/** The Prometheus alerts, from deploy/chart/alerts.yaml. */
export const alerts: readonly JsonObject[] = parse(readText('chart/alerts.yaml')) as JsonObject[];

/** The Grafana dashboard, from deploy/chart/grafana-dashboard.json. */
export const grafanaDashboard: string = readText('chart/grafana-dashboard.json');

/** The text of a file in deploy/. */
function readText(file: string): string {
  return readFileSync(new URL(`../../../deploy/${file}`, import.meta.url), 'utf8');
}
