// What the manifests of an installation are made of, as plain data: the definitions and roles of the parts, the alerts and
// the dashboard for Grafana. A build puts the values in place of this code (scripts/bundle.ts).
import { readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';
import type { AnyObject, JsonObject } from '../../kube/objects.ts';
import { partsOf } from '../run/parts.ts';
import type { PartName } from './values.ts';

/** What a part needs in a cluster. */
export interface PartData {
  readonly name: PartName;
  readonly definitions: readonly AnyObject[];
  /** Its roles and bindings, as deploy/PART-rbac.yaml has them. */
  readonly rights: readonly AnyObject[];
  /** The name under which its webhook is registered. */
  readonly webhook?: string;
}

export const partData: readonly PartData[] = partsOf().map(({ name, resources, webhook }) => ({
  name: name as PartName,
  definitions: resources.map(({ crd }) => crd),
  rights: rightsOf(name),
  ...(webhook && { webhook: webhook.configurationName }),
}));

/** The roles of the dashboard, which is no part: it shows what the parts do. */
export const dashboardRights: readonly AnyObject[] = rightsOf('dashboard');

function rightsOf(part: string): AnyObject[] {
  const objects = parseAllDocuments(readText(`${part}-rbac.yaml`)).map((document) => document.toJS() as AnyObject);
  return objects.filter(({ kind }) => kind !== 'Namespace' && kind !== 'ServiceAccount');
}

/** The rules of Prometheus, as deploy/chart/alerts.yaml has them. */
export const alerts: readonly JsonObject[] = parse(readText('chart/alerts.yaml')) as JsonObject[];

/** The dashboard for Grafana, as deploy/chart/grafana-dashboard.json has it. */
export const grafanaDashboard: string = readText('chart/grafana-dashboard.json');

/** The text of a file in deploy/. */
function readText(file: string): string {
  return readFileSync(new URL(`../../../deploy/${file}`, import.meta.url), 'utf8');
}
