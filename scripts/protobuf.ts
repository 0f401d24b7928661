// Generates src/embedded/protobuf/messages.json, the wire layout of the built-in kinds of the embedded API server, from
// the public Go modules of Kubernetes, which it downloads. Run it for a new Kubernetes release or another kind. Needs
// Go.
//   npm run protobuf
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { packageOf } from '../src/embedded/protobuf/table.ts';
import { go } from '../test/programs/go.ts';
import { specialTypes } from '../src/embedded/protobuf/special.ts';

const release = 'v0.36.4';
const root = path.resolve(import.meta.dirname, '..');
export const tableFile = path.join(root, 'src/embedded/protobuf/messages.json');

/** Module, folder, and the short name of the package as in openapi.json. */
const packages: readonly (readonly [module: string, folder: string, name: string])[] = [
  ['apimachinery', 'pkg/apis/meta/v1', 'meta.v1'],
  ['apimachinery', 'pkg/apis/meta/v1beta1', 'meta.v1beta1'],
  ['apimachinery', 'pkg/runtime', 'runtime'],
  ['apimachinery', 'pkg/api/resource', 'resource'],
  ['apimachinery', 'pkg/util/intstr', 'intstr'],
  ['apiextensions-apiserver', 'pkg/apis/apiextensions/v1', 'apiextensions.v1'],
  ...[
    'core/v1',
    'apps/v1',
    'batch/v1',
    'autoscaling/v1',
    'autoscaling/v2',
    'policy/v1',
    'networking/v1',
    'discovery/v1',
    'events/v1',
    'coordination/v1',
    'rbac/v1',
    'admissionregistration/v1',
    'authentication/v1',
    'authorization/v1',
    'certificates/v1',
    'storage/v1',
    'scheduling/v1',
  ].map((folder) => ['api', folder, folder.replace('/', '.')] as const),
];

/** Folders by module. */
type Folders = ReadonlyMap<string, string>;

/** Finds the Go modules in Go's cache, or downloads them. */
export async function fetchModules(): Promise<Folders> {
  const modules = [...new Set(packages.map(([module]) => module))];
  return new Map(await Promise.all(modules.map(async (name) => [name, await download(name)] as const)));
}

async function download(module: string): Promise<string> {
  const answer = await go(['mod', 'download', '-json', `k8s.io/${module}@${release}`], tmpdir());
  return (JSON.parse(answer) as { readonly Dir: string }).Dir;
}

/** The tags of one field of a Go struct. */
interface Tagged {
  readonly json: string;
  readonly inline: boolean;
  readonly keepsZero: boolean;
}

/** The tags of all fields, by struct and field number. */
function structsOf(folder: string): Map<string, Map<number, Tagged>> {
  const structs = new Map<string, Map<number, Tagged>>();
  const files = readdirSync(folder).filter((file) => file.endsWith('.go') && !/_test\.go$|^(zz_)?generated/.test(file));
  for (const file of files) {
    const source = readFileSync(path.join(folder, file), 'utf8');
    for (const [, name, body] of source.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) {
      structs.set(name!, new Map([...body!.matchAll(/^\t(?!\/\/)(.*?)\s*`(.*)`/gm)].flatMap(taggedField)));
    }
  }
  return structs;
}

function taggedField([, declaration, tags]: RegExpMatchArray): [number, Tagged][] {
  const number = /protobuf:"\w+,(\d+)/.exec(tags!)?.[1];
  const json = /json:"([^"]*)"/.exec(tags!)?.[1]?.split(',');
  if (number === undefined || json === undefined) return [];
  const [name = '', ...options] = json;
  const optional = options.includes('omitempty') && !/^\w+\s+\*/.test(declaration!);
  return [[Number(number), { json: name, inline: name === '' && options.includes('inline'), keepsZero: !optional }]];
}

const scalars: Readonly<Record<string, string>> = {
  string: 'string',
  bytes: 'bytes',
  bool: 'bool',
  int32: 'int',
  int64: 'int',
  double: 'double',
};

/** The messages of a package, in the format that src/embedded/protobuf/table.ts parses. Generated on demand. */
function messagesOf(folder: string, home: string): [string, () => string][] {
  const structs = structsOf(folder);
  const source = readFileSync(path.join(folder, 'generated.proto'), 'utf8');
  return [...source.matchAll(/^message (\w+) \{\n([\s\S]*?)^\}/gm)].map(([, name, body]) => {
    const full = `${home}.${name}`;
    const fields = (): string[] =>
      [...body!.matchAll(/^ {2}(optional|repeated|map)\s*(<[^>]*>|\S+) (\w+) = (\d+);/gm)].map(
        ([, rule, type, given, number]) => {
          const { json, inline, keepsZero } =
            structs.get(name!)?.get(Number(number)) ?? unwrappedList(full, body!, given!);
          const list = rule === 'repeated' ? '[]' : rule === 'map' ? '{}' : '';
          const inner = typeName(rule === 'map' ? /,\s*([^>]+)>/.exec(type!)![1]! : type!);
          const kept = list === '' && keepsZero && scalars[type!] !== undefined ? '!' : '';
          return `${number} ${inline ? '.' : json} ${list}${inner}${kept}`;
        },
      );
    return [full, () => fields().join(',')];
  });
}

/** A message that only wraps a list has no struct: its JSON is the value of `items`. */
function unwrappedList(message: string, body: string, field: string): Tagged {
  if (field !== 'items' || body.match(/ = \d+;/g)?.length !== 1) throw new Error(`${message}.${field} has no tags`);
  return { json: '=', inline: false, keepsZero: true };
}

/** The type of a field; messages of the same package have no package prefix. */
function typeName(type: string): string {
  if (scalars[type] !== undefined) return scalars[type];
  if (!type.includes('.')) return type;
  const found = packages.find(([module, folder]) => {
    const full = `.k8s.io.${module}.${folder.replaceAll('/', '.')}`;
    return type.startsWith(`${full}.`) && !type.slice(full.length + 1).includes('.');
  });
  if (found === undefined) throw new Error(`the package of ${type} is not in the list`);
  return `${found[2]}.${type.slice(type.lastIndexOf('.') + 1)}`;
}

/** All messages that the given ones reference, including themselves. */
function closure(names: readonly string[], messages: ReadonlyMap<string, () => string>): Map<string, string> {
  const used = new Map<string, string>();
  const use = (name: string): void => {
    if (used.has(name) || specialTypes.has(name)) return;
    const text = messages.get(name)?.();
    if (text === undefined) throw new Error(`there is no message ${name}`);
    used.set(name, text);
    for (const [, type] of text.matchAll(/ (?:\[\]|\{\})?([\w.]+)!?(?:,|$)/g)) {
      if (type!.includes('.')) use(type!);
      else if (!Object.values(scalars).includes(type!)) use(`${packageOf(name)}.${type}`);
    }
  };
  for (const name of names) use(name);
  return used;
}

/** The messages of all served kinds, and of requests and responses for any kind. */
function servedMessages(): string[] {
  const definitions = JSON.parse(readFileSync(path.join(root, 'src/embedded/kinds/openapi.json'), 'utf8')) as Record<
    string,
    { readonly 'x-kubernetes-group-version-kind'?: unknown }
  >;
  const kinds = Object.keys(definitions).filter(
    (name) => definitions[name]!['x-kubernetes-group-version-kind'] !== undefined,
  );
  const everywhere = 'Status DeleteOptions PartialObjectMetadata APIGroup APIGroupList APIResourceList APIVersions';
  return [
    ...kinds.flatMap((name) => [name, `${name}List`]),
    ...everywhere.split(' ').map((name) => `meta.v1.${name}`),
    ...['v1', 'v1beta1'].map((version) => `meta.${version}.PartialObjectMetadataList`),
  ];
}

/** Generates the table from the modules in these folders. */
export function messageTable(folders: Folders): string {
  const messages = new Map(
    packages.flatMap(([module, folder, home]) => messagesOf(path.join(folders.get(module)!, folder), home)),
  );
  // Reviews have no list.
  const served = servedMessages().filter((name) => !name.endsWith('List') || messages.has(name));
  const used = closure(served, messages);
  const lines = [...used.keys()].toSorted().map((name) => `${JSON.stringify(name)}:${JSON.stringify(used.get(name))}`);
  return `{\n${lines.join(',\n')}\n}\n`;
}

if (import.meta.main) writeFileSync(tableFile, messageTable(await fetchModules()));
