// Writes the generated files of deploy/chart: the schema of the values, the dashboard for Grafana, the roles of deploy/
// and the definitions of our kinds. A chart can only read its own folder.
//   npm run chart
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { partData } from '../src/cli/install/chart-data.ts';
import { valuesJsonSchema } from '../src/cli/install/values.ts';
import { grafanaDashboard } from './grafana.ts';

const deploy = path.resolve(import.meta.dirname, '../deploy');

/** The generated files, by path in the chart. */
export function chartFiles(): Map<string, string> {
  const files = new Map([
    ['values.schema.json', `${JSON.stringify(valuesJsonSchema(), null, 2)}\n`],
    ['grafana-dashboard.json', `${JSON.stringify(grafanaDashboard(), null, 2)}\n`],
  ]);
  for (const { name, definitions } of partData) {
    files.set(`rbac/${name}.yaml`, readFileSync(path.join(deploy, `${name}-rbac.yaml`), 'utf8'));
    files.set(`definitions/${name}.yaml`, definitions.map((each) => stringify(each, { lineWidth: 0 })).join('---\n'));
  }
  files.set('rbac/dashboard.yaml', readFileSync(path.join(deploy, 'dashboard-rbac.yaml'), 'utf8'));
  return files;
}

if (import.meta.main) {
  for (const [file, text] of chartFiles()) writeFileSync(path.join(deploy, 'chart', file), text);
}
