// Generates the pages of docs/reference from the source: our kinds, commands, metrics, alerts, error codes, and the
// capabilities of routing back ends; and the condition reasons in the troubleshooting page.
//   node scripts/reference.ts
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { dynamicEnv } from '../src/api/dynamicenv.ts';
import { istio } from '../src/api/istio.ts';
import type { Resource } from '../src/api/resource.ts';
import * as routing from '../src/api/routing.ts';
import * as spaces from '../src/api/spaces.ts';
import * as targets from '../src/api/targets.ts';
import { upstream } from '../src/api/upstream.ts';
import { ERRORS } from '../src/cli/errors/catalogue.ts';
import { EXIT } from '../src/cli/exit.ts';
import type { KubeObject } from '../src/kube/objects.ts';
import { BACKENDS, CODES, FEATURES } from '../src/routing/index.ts';
import { alerts } from '../src/cli/install/chart-data.ts';
import { declaredMetrics } from './metrics.ts';
import { commandsPage } from './reference/commands.ts';
import { table, withWrittenPart, writtenPage } from './reference/markdown.ts';
import { reasonTables } from './reference/reasons.ts';

/** The part of a schema that pages show. */
interface Node {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly additionalProperties?: Node;
  readonly 'x-kubernetes-int-or-string'?: boolean;
}

const ROOT = path.resolve(import.meta.dirname, '..');
const FOLDER = path.join(ROOT, 'docs', 'reference');
const TROUBLESHOOTING = path.join(ROOT, 'docs', 'operations', 'troubleshooting.md');

/** The generated pages, by path. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ...resources().map((resource) => [fileOf(resource), pageOf(resource)] as const),
    [path.join(FOLDER, 'backends.md'), backendsPage()],
    [path.join(FOLDER, 'routing-codes.md'), codesPage()],
    [path.join(FOLDER, 'errors.md'), errorsPage()],
    [path.join(FOLDER, 'metrics.md'), metricsPage()],
    [path.join(FOLDER, 'alerts.md'), alertsPage()],
    [path.join(FOLDER, 'commands.md'), await commandsPage()],
    [TROUBLESHOOTING, withWrittenPart(readFileSync(TROUBLESHOOTING, 'utf8'), 'reasons', reasonTables())],
  ]);
}

/** All kinds of our API. */
function resources(): readonly Resource<KubeObject>[] {
  const modules = [targets, spaces, routing].flatMap((module): object[] => Object.values(module));
  return [dynamicEnv, ...modules, upstream, istio].filter((each): each is Resource<KubeObject> => 'crd' in each);
}

function fileOf({ definition }: Resource<KubeObject>): string {
  return path.join(FOLDER, `${definition.kind.toLowerCase()}.md`);
}

function pageOf({ definition, crd }: Resource<KubeObject>): string {
  const { group, version, alsoServed = [], kind, plural, shortNames = [], namespaced, columns } = definition;
  const known = new Map<string, string>();
  const { spec, status } = schemaOf(crd).properties ?? {};
  const notes = [
    definition.immutableSpec && 'The spec cannot be changed once it is there.',
    definition.preserveUnknownFields && 'Fields that are not named here are kept as they are written.',
  ].filter((note) => typeof note === 'string');
  return writtenPage(
    'src/api: change the definition there',
    `# ${kind}`,
    [definition.description, ...notes].join(' '),
    table(
      ['', ''],
      [
        ['apiVersion', [version, ...alsoServed].map((each) => `\`${group}/${each}\``).join(', ')],
        ['kind', `\`${kind}\``],
        ['names for kubectl', [plural, definition.singular, ...shortNames].map((name) => `\`${name}\``).join(', ')],
        ['scope', namespaced ? 'a namespace' : 'the cluster'],
      ],
    ),
    ...exampleOf(definition.kind),
    ...fieldsOf('spec', spec, known),
    ...fieldsOf('status', status, known),
    '## Columns of `kubectl get`',
    table(
      ['Column', 'Type', 'Value', 'Description'],
      columns.map(({ name, type, jsonPath, description = '' }) => [name, type, `\`${jsonPath}\``, description]),
    ),
  );
}

/** The capabilities of each routing back end. */
function backendsPage(): string {
  const sections = Object.values(BACKENDS).flatMap(({ name, about, capabilities: { strict, compat } }) => [
    `## \`${name}\``,
    `${about}.`,
    table(
      ['A rule has', 'strict mode', '', 'compat mode', ''],
      Object.entries(FEATURES).map(([feature, text]) => {
        const [now, then] = [strict, compat].map((each) => each[feature as keyof typeof FEATURES]);
        return [text, now!.support, now!.note, then!.support, then!.note];
      }),
    ),
  ]);
  return writtenPage(
    'src/routing/backends: change the tables there',
    '# Back ends of routing rules',
    'How each part of a rule is translated. *Exact*: it means the same there. *Approximate*: nearly, as the note says. *Refused*: the rule is rejected with a [code](routing-codes.md). *Dropped*: the rule is applied without it, silently; only compat mode does that, because the original did.',
    ...sections,
  );
}

/** The codes of routing diagnostics. */
function codesPage(): string {
  return writtenPage(
    'src/routing/codes.ts: change the table there',
    '# Codes of routing diagnostics',
    'Every diagnostic of `offshoot routing translate` has one of these codes; the message names the object, the field and the value.',
    table(
      ['Code', 'When', 'What to do'],
      Object.entries(CODES).map(([code, { meaning, advice }]) => [`\`${code}\``, meaning, advice]),
    ),
  );
}

/** The metrics of every process, then those of each part. */
function metricsPage(): string {
  const sections = [...Map.groupBy(declaredMetrics(), ({ part }) => part)].flatMap(([part, metrics]) => [
    part === undefined ? '## Every process' : `## Part \`${part}\``,
    table(
      ['Metric', 'Type', 'Labels', 'What it says'],
      metrics.map(({ name, type, labels, help }) => [
        `\`${name}\``,
        type,
        labels.map((label) => `\`${label}\``).join(', '),
        help.replaceAll('<', '\\<'),
      ]),
    ),
  ]);
  return writtenPage(
    'what the controllers declare: change it there',
    '# Metrics',
    'Served as Prometheus text at `/metrics`, on port 8080 (`--metrics-bind-address`) by every replica. What a part counts in the cluster is told by the replica that leads it: add the replicas up, or take the greatest. The names of controller-runtime and client-go mean what they mean there, so that dashboards for other controllers work.',
    ...sections,
  );
}

/** The alerts with their runbooks. */
function alertsPage(): string {
  const rules = alerts as readonly {
    readonly alert?: string;
    readonly for?: string;
    readonly labels?: { readonly severity?: string };
    readonly annotations?: { readonly summary?: string; readonly runbook?: string };
  }[];
  const readable = (text = ''): string =>
    text.replaceAll(/\{\{\s*(.*?)\s*\}\}/g, (_, value: string) => placeholder(value));
  return writtenPage(
    'deploy/chart/alerts.yaml: change it there',
    '# Alerts',
    'The chart brings them as a PrometheusRule with `prometheusRule.enabled=true`; without the Prometheus operator, [deploy/chart/alerts.yaml](../../deploy/chart/alerts.yaml) is the list of rules for a group. [Monitor](../operations/monitor.md) says how they come about, and [troubleshooting](../operations/troubleshooting.md) what the reasons of conditions mean.',
    table(
      ['Alert', 'Severity', 'After', 'What it says', 'What to do'],
      rules.map(({ alert = '', labels, for: after = 'at once', annotations }) => [
        `\`${alert}\``,
        labels?.severity ?? '',
        after,
        readable(annotations?.summary),
        [readable(annotations?.runbook), ...seeAlso(alert)].join(' '),
      ]),
    ),
    'Next: [Troubleshooting](../operations/troubleshooting.md).',
  );
}

/** The error codes of the command line. */
function errorsPage(): string {
  return writtenPage(
    'src/cli/errors/catalogue.ts: change the table there',
    '# Codes of errors',
    'Every error that the command line prints has one of these codes in its last line; `offshoot errors CODE` says the same as this page, and `offshoot errors -o json` says it to programs. Codes for what the API server refuses are the reasons that it gives. What `offshoot routing translate` refuses has a code of [routing diagnostics](routing-codes.md). For `Stalled`, `NotReady` and `TimedOut`, the condition of the object has the cause: [troubleshooting](../operations/troubleshooting.md#reasons-of-conditions) lists every reason.',
    table(
      ['Code', 'Meaning', 'What to do', 'Exit code'],
      Object.entries(ERRORS).map(([code, { meaning, advice, exit = EXIT.error }]) => [
        `\`${code}\``,
        meaning,
        advice,
        String(exit),
      ]),
    ),
  );
}

/** The section of the troubleshooting page with the condition reasons of an alert. */
const SECTION_OF_ALERT: Readonly<Record<string, string>> = {
  OffshootReconcileErrors: 'every-kind',
  OffshootPlanThrew: 'every-kind',
  OffshootForbidden: 'the-controllers',
  OffshootNotIsolated: 'dynamicenv',
  OffshootEnvironmentDegraded: 'dynamicenv',
  OffshootEnvironmentsSlow: 'dynamicenv',
  OffshootClaimsLost: 'deploymenttargetclaim',
  OffshootTargetsFailed: 'deploymenttarget',
  OffshootMeshNotReady: 'istio',
  OffshootRulesRejected: 'routingrule-mesh-and-meshgroup',
};

function seeAlso(alert: string): string[] {
  const section = SECTION_OF_ALERT[alert];
  return section === undefined ? [] : [`[Reasons](../operations/troubleshooting.md#${section}).`];
}

/** A placeholder for a value of the alert. */
function placeholder(value: string): string {
  const label = /\$labels\.(\w+)/.exec(value)?.[1];
  return label === undefined ? 'N' : label.toUpperCase();
}

function schemaOf(crd: Resource<KubeObject>['crd']): Node {
  const { versions } = crd['spec'] as { readonly versions: readonly { readonly schema: { openAPIV3Schema: Node } }[] };
  return versions[0]!.schema.openAPIV3Schema;
}

/** The example of a kind, if there is one. */
function exampleOf(kind: string): string[] {
  const file = path.join(ROOT, 'examples', `${kind.toLowerCase()}.yaml`);
  if (!existsSync(file)) return [];
  return ['## Example', `\`\`\`yaml\n${readFileSync(file, 'utf8').trimEnd()}\n\`\`\``];
}

function fieldsOf(part: string, node: Node | undefined, known: Map<string, string>): string[] {
  const rows = node === undefined ? [] : fieldRows(node, part, known);
  if (rows.length === 0) return [];
  return [`## \`${part}\``, table(['Field', 'Type', 'Required', 'Description'], rows)];
}

/** One row per field of a node. An object that was described before is only referenced. */
function fieldRows(node: Node, at: string, known: Map<string, string>): string[][] {
  return Object.entries(node.properties ?? {}).flatMap(([name, field]) => {
    const { inner, place } = innermost(field, `${at}.${name}`);
    const shape = inner.properties && JSON.stringify([inner.properties, inner.required]);
    const same = shape === undefined ? undefined : known.get(shape);
    if (shape !== undefined && same === undefined) known.set(shape, place);
    const description = [
      field.description,
      field.enum && `One of ${field.enum.map((value) => `\`${String(value)}\``).join(', ')}.`,
      field.default !== undefined && `Default: \`${JSON.stringify(field.default)}\`.`,
      same && `Its fields are those of \`${same}\`.`,
    ].filter((text) => typeof text === 'string');
    const required = node.required?.includes(name) ? 'yes' : '';
    const row = [`\`${at}.${name}\``, typeOf(field), required, description.join(' ')];
    return [row, ...(same === undefined ? fieldRows(inner, place, known) : [])];
  });
}

/** The innermost type of nested lists and maps, and its path. */
function innermost(node: Node, place: string): { readonly inner: Node; readonly place: string } {
  if (node.items) return innermost(node.items, `${place}[]`);
  if (node.additionalProperties) return innermost(node.additionalProperties, `${place}{}`);
  return { inner: node, place };
}

function typeOf(node: Node): string {
  if (node['x-kubernetes-int-or-string']) return 'integer or string';
  if (node.items) return `list of ${typeOf(node.items)}`;
  if (node.additionalProperties) return `map to ${typeOf(node.additionalProperties)}`;
  if (node.format === 'date-time') return 'time';
  if (node.type === undefined) return 'any';
  return node.format === undefined ? node.type : `${node.type} (${node.format})`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [file, text] of await referencePages()) writeFileSync(file, text);
}
