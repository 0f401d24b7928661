// Generates src/embedded/kinds/openapi.json and descriptions.json, the schemas of the built-in kinds of the embedded
// API server, from the models of @kubernetes/client-node. Run by every build; the descriptions, which are copied from
// that package, are not committed.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  annotations,
  atomicDefinitions,
  type DefinitionAnnotations,
  type FieldAnnotation,
  writtenDefinitions,
} from '../src/embedded/kinds/annotations.ts';
import { keptZeroValues } from '../src/embedded/kinds/zero-values.ts';

interface Attribute {
  readonly baseName: string;
  readonly name: string;
  readonly type: string;
  readonly format: string;
}
type Json = Record<string, unknown>;

const root = path.resolve(import.meta.dirname, '..');
const models = path.join(root, 'node_modules/@kubernetes/client-node/dist/gen/models');

// The order of packages decides which one a shared type belongs to: `core` comes before `apps`, which references it.
const roots: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'meta.v1',
    '',
    [
      'V1ObjectMeta',
      'V1LabelSelector',
      'V1Condition',
      'V1ListMeta',
      'V1DeleteOptions',
      'V1Status',
      'V1FieldSelectorRequirement',
      'V1LabelSelectorRequirement',
    ],
  ],
  [
    'core.v1',
    '',
    [
      'V1Namespace',
      'V1Node',
      'V1Pod',
      'V1PodTemplate',
      'V1Service',
      'V1Endpoints',
      'V1ServiceAccount',
      'V1ConfigMap',
      'V1Secret',
      'CoreV1Event',
      'V1ResourceQuota',
      'V1LimitRange',
      'V1PersistentVolumeClaim',
      'V1PersistentVolume',
      'V1ReplicationController',
      'V1Binding',
      'V1TopologySelectorTerm',
    ],
  ],
  ['apps.v1', 'apps', ['V1Deployment', 'V1ReplicaSet', 'V1StatefulSet', 'V1DaemonSet', 'V1ControllerRevision']],
  ['batch.v1', 'batch', ['V1Job', 'V1CronJob']],
  ['autoscaling.v1', 'autoscaling', ['V1HorizontalPodAutoscaler', 'V1Scale']],
  ['autoscaling.v2', 'autoscaling', ['V2HorizontalPodAutoscaler']],
  ['policy.v1', 'policy', ['V1PodDisruptionBudget', 'V1Eviction']],
  ['networking.v1', 'networking.k8s.io', ['V1NetworkPolicy', 'V1Ingress', 'V1IngressClass']],
  ['discovery.v1', 'discovery.k8s.io', ['V1EndpointSlice']],
  ['events.v1', 'events.k8s.io', ['EventsV1Event']],
  ['coordination.v1', 'coordination.k8s.io', ['V1Lease']],
  ['rbac.v1', 'rbac.authorization.k8s.io', ['V1Role', 'V1ClusterRole', 'V1RoleBinding', 'V1ClusterRoleBinding']],
  ['apiextensions.v1', 'apiextensions.k8s.io', ['V1CustomResourceDefinition']],
  [
    'admissionregistration.v1',
    'admissionregistration.k8s.io',
    ['V1ValidatingWebhookConfiguration', 'V1MutatingWebhookConfiguration'],
  ],
  [
    'authentication.v1',
    'authentication.k8s.io',
    ['V1TokenReview', 'V1SelfSubjectReview', 'AuthenticationV1TokenRequest'],
  ],
  [
    'authorization.v1',
    'authorization.k8s.io',
    ['V1SubjectAccessReview', 'V1SelfSubjectAccessReview', 'V1LocalSubjectAccessReview', 'V1SelfSubjectRulesReview'],
  ],
  ['storage.v1', 'storage.k8s.io', ['V1StorageClass']],
  ['certificates.v1', 'certificates.k8s.io', ['V1CertificateSigningRequest']],
  ['scheduling.v1', 'scheduling.k8s.io', ['V1PriorityClass']],
];

const wellKnown: Readonly<Record<string, Json>> = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  any: { 'x-kubernetes-preserve-unknown-fields': true },
  Date: { $ref: 'meta.v1.Time' },
  V1MicroTime: { $ref: 'meta.v1.MicroTime' },
  IntOrString: { $ref: 'intstr.IntOrString' },
};

/** The attributes of a model, read from its compiled source to avoid loading the package. */
function attributesOf(model: string): Attribute[] {
  const source = readFileSync(path.join(models, `${model}.js`), 'utf8');
  const table = /attributeTypeMap = (\[[\s\S]*?\n\]|\[\]);/.exec(source)?.[1];
  if (table === undefined) throw new Error(`${model} has no attributeTypeMap`);
  return JSON.parse(table) as Attribute[];
}

interface Declared {
  readonly description: string;
  readonly fields: Map<string, { description: string; required: boolean }>;
}

function readComment(lines: string): string {
  return lines
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/, ''))
    .join('\n')
    .trim()
    .replaceAll(/\\(["'])/g, '$1')
    .replaceAll('*_/', '*/');
}

/** Descriptions and required fields, which are only in the type declarations. */
function declarationOf(model: string): Declared {
  const source = readFileSync(path.join(models, `${model}.d.ts`), 'utf8');
  const start = source.indexOf('export declare class');
  const comments = [...source.slice(0, start).matchAll(/\/\*\*([\s\S]*?)\*\//g)];
  const fields = new Map<string, { description: string; required: boolean }>();
  for (const match of source.slice(start).matchAll(/(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*)?^ {4}'([^']+)'(\??):/gm)) {
    fields.set(match[2]!, { description: readComment(match[1] ?? ''), required: match[3] === '' });
  }
  return { description: readComment(comments.at(-1)?.[1] ?? ''), fields };
}

const owner = new Map<string, string>();

function definitionName(model: string): string {
  const short = model.replace(/^(?:[A-Z][a-z]+)?V\d+(?=[A-Z])/, '');
  return `${owner.get(model)}.${short}`;
}

function referencedModels(type: string): string[] {
  const inner = type.replace(/^Array<(.*)>$/, '$1').replace(/^\{ \[key: string\]: (.*); \}$/, '$1');
  if (inner !== type) return referencedModels(inner);
  return wellKnown[inner] === undefined && inner !== 'number' ? [inner] : [];
}

function claim(model: string, home: string): void {
  if (owner.has(model)) return;
  owner.set(model, home);
  for (const attribute of attributesOf(model)) for (const next of referencedModels(attribute.type)) claim(next, home);
}

function typeSchema(type: string, format: string): Json {
  const list = /^Array<(.*)>$/.exec(type);
  if (list) return { type: 'array', items: typeSchema(list[1]!, format) };
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(type);
  if (map) return { type: 'object', additionalProperties: typeSchema(map[1]!, format) };
  if (type === 'number') {
    return format === 'double' || format === 'float' ? { type: 'number', format } : { type: 'integer', format };
  }
  const known = wellKnown[type];
  if (known !== undefined) return format === '' || known['type'] !== 'string' ? { ...known } : { ...known, format };
  return { $ref: definitionName(type) };
}

function annotate(schema: Json, note: FieldAnnotation = {}): Json {
  const out: Json = note.ref === undefined ? { ...schema } : { $ref: note.ref };
  if (note.quantity === true) {
    const quantity = { $ref: 'resource.Quantity' };
    if (out['additionalProperties'] === undefined) return quantity;
    out['additionalProperties'] = quantity;
  }
  if (out['type'] === 'array') out['x-kubernetes-list-type'] = note.listType ?? 'atomic';
  if (note.keys !== undefined) out['x-kubernetes-list-map-keys'] = note.keys;
  if (note.mergeKey !== undefined) out['x-kubernetes-patch-merge-key'] = note.mergeKey;
  if (note.strategy !== undefined) out['x-kubernetes-patch-strategy'] = note.strategy;
  if (note.mapType !== undefined) out['x-kubernetes-map-type'] = note.mapType;
  if (note.default !== undefined) out['default'] = note.default;
  return out;
}

const definitions: Record<string, Json> = {};
const descriptions: Record<string, string> = {};
const unusedNotes = new Set(Object.keys(annotations));

function define(model: string): void {
  const name = definitionName(model);
  const note: DefinitionAnnotations = annotations[name] ?? {};
  unusedNotes.delete(name);
  const declared = declarationOf(model);
  const properties: Json = {};
  const required: string[] = [];
  const unusedFields = new Set(Object.keys(note));
  descriptions[name] = declared.description;
  for (const attribute of attributesOf(model)) {
    const field = attribute.baseName;
    const fieldNote = note[field];
    unusedFields.delete(field);
    const plain = typeSchema(attribute.type, attribute.format);
    properties[field] = annotate(plain, fieldNote);
    const about = declared.fields.get(attribute.name) ?? declared.fields.get(field);
    if (about?.required === true) required.push(field);
    if (about !== undefined && about.description !== '') descriptions[`${name}#${field}`] = about.description;
  }
  if (unusedFields.size > 0)
    throw new Error(`annotations name unknown fields of ${name}: ${[...unusedFields].join(', ')}`);
  definitions[name] = {
    type: 'object',
    ...(required.length > 0 && { required: required.sort() }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(keptZeroValues[name] !== undefined && { keepsZero: keptZeroValues[name].split(' ') }),
    ...(atomicDefinitions.includes(name) && { 'x-kubernetes-map-type': 'atomic' }),
  };
}

for (const [home, , names] of roots) for (const name of names) claim(name, home);
for (const model of owner.keys()) define(model);
for (const [name, { description, ...schema }] of Object.entries(writtenDefinitions)) {
  definitions[name] = schema;
  descriptions[name] = description;
}
for (const [home, group, names] of roots) {
  if (home === 'meta.v1') continue;
  for (const model of names) {
    const name = definitionName(model);
    const [, version, kind] = name.split('.');
    definitions[name]!['x-kubernetes-group-version-kind'] = [{ group, version, kind }];
  }
}
if (unusedNotes.size > 0) throw new Error(`annotations name unknown definitions: ${[...unusedNotes].join(', ')}`);

/** Writes one definition per line: compact, with a readable diff when the upstream models change. */
function write(file: string, content: Record<string, unknown>): void {
  const lines = Object.keys(content)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${JSON.stringify(content[key])}`);
  writeFileSync(path.join(root, 'src/embedded/kinds', file), `{\n${lines.join(',\n')}\n}\n`);
}
write('openapi.json', definitions);
write('descriptions.json', descriptions);
