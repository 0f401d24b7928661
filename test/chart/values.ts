// The values that the chart and `offshoot install` are tested with, and the objects that both must render from them.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import type { AnyObject } from '../../src/kube/objects.ts';

export const chart = path.resolve(import.meta.dirname, '../../deploy/chart');
const testdata = path.join(import.meta.dirname, 'testdata');

export interface Example {
  readonly name: string;
  /** The file with the values. */
  readonly file: string;
  readonly values: unknown;
  /** The file with the expected objects. */
  readonly golden: string;
}

export const examples: readonly Example[] = globSync('*.values.yaml', { cwd: testdata })
  .toSorted()
  .map((each) => {
    const file = path.join(testdata, each);
    const name = each.replace('.values.yaml', '');
    const values = parse(readFileSync(file, 'utf8')) as unknown;
    return { name, file, values, golden: path.join(testdata, `${name}.out.yaml`) };
  });

export const isDefinition = ({ kind }: AnyObject): boolean => kind === 'CustomResourceDefinition';

/** Objects as in a golden file: sorted, without CustomResourceDefinitions. */
export function goldenText(objects: readonly AnyObject[]): string {
  const named = objects.filter((each) => !isDefinition(each)).map((each) => [idOf(each), each] as const);
  const sorted = named.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sorted
    .map(([, each]) =>
      stringify(withoutFiles(each), { lineWidth: 0, sortMapEntries: true, aliasDuplicateObjects: false }),
    )
    .join('---\n');
}

/** Replaces the content of the dashboard in a ConfigMap by its file name. */
function withoutFiles(object: AnyObject): AnyObject {
  const { data, ...rest } = object as AnyObject & { readonly data?: Readonly<Record<string, string>> };
  if (object.kind !== 'ConfigMap' || data === undefined) return object;
  const dashboard = readFileSync(path.join(chart, 'grafana-dashboard.json'), 'utf8');
  const named = Object.entries(data).map(([key, text]) => [key, text === dashboard ? 'grafana-dashboard.json' : text]);
  return { ...rest, data: Object.fromEntries(named) as unknown };
}

/** Parses all YAML documents of a text. */
export function objectsIn(text: string): AnyObject[] {
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as AnyObject | null) ?? []);
}

export function idOf({ kind, metadata }: AnyObject): string {
  return `${kind} ${metadata.name}`;
}
