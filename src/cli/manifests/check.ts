// Checks manifests of our kinds without a cluster: YAML, schema, then the rules of admission. Every finding has its place
// in the file. `offshoot env validate` and `offshoot claim validate` print them.
import type { z } from 'zod';
import type { Resource } from '../../api/resource.ts';
import { stringifyJson } from '../../kube/json.ts';
import { apiVersionOf, keyOf } from '../../kube/objects.ts';
import type { AnyObject, KubeObject } from '../../kube/objects.ts';
import { parseYaml } from './kubectl-yaml.ts';
import type { FieldPath } from './kubectl-yaml.ts';
import { shapeProblem } from './read.ts';

interface Problem {
  readonly at: FieldPath;
  readonly message: string;
  /** It would be admitted all the same. */
  readonly isWarning?: true;
}

/** A kind to check. */
export interface Check {
  readonly resource: Resource<KubeObject>;
  /** What admission says of an object that fits its schema; `before` are those of the kind that came before it. */
  judge(object: KubeObject, before: readonly KubeObject[]): readonly Problem[];
}

interface Finding {
  readonly source: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly isWarning?: true;
}

export interface Checked {
  readonly findings: readonly Finding[];
  /** Kinds and keys of the objects that would be admitted. */
  readonly valid: readonly string[];
}

/** A document that may hold an object to check, and how to find places in it. */
interface Candidate {
  readonly check: Check;
  readonly value: unknown;
  readonly locate: (at: FieldPath) => Omit<Finding, 'message'>;
}

/** Checks texts, each with the name of its source. Objects of other kinds are passed over. */
export function checkManifests(
  texts: readonly (readonly [source: string, text: string])[],
  namespace: string,
  checks: readonly Check[],
): Checked {
  const findings: Finding[] = [];
  const valid: string[] = [];
  const seen = new Map<Check, KubeObject[]>(checks.map((check) => [check, []]));
  for (const { check, value, locate } of texts.flatMap(([source, text]) =>
    candidatesOf(source, text, checks, findings),
  )) {
    const schema = schemaProblems(value, check.resource);
    const object = { ...(value as KubeObject), metadata: metadataOf(value as KubeObject, check, namespace) };
    const before = seen.get(check)!;
    const problems = schema.length > 0 ? schema : check.judge(object, before);
    for (const { at, ...problem } of problems) findings.push({ ...locate(at), ...problem });
    if (schema.length === 0) before.push(object);
    if (problems.every(({ isWarning }) => isWarning))
      valid.push(`${object.kind.toLowerCase()}/${keyOf(object.metadata)}`);
  }
  return { findings, valid };
}

function metadataOf({ metadata }: KubeObject, { resource }: Check, namespace: string): KubeObject['metadata'] {
  return resource.kind.namespaced ? { namespace, ...metadata } : metadata;
}

function candidatesOf(source: string, text: string, checks: readonly Check[], findings: Finding[]): Candidate[] {
  return parseYaml(text).flatMap(({ problems, value, positionOf }) => {
    findings.push(...problems.map((problem) => ({ source, ...problem })));
    if (!problems.every(({ isWarning }) => isWarning)) return [];
    const content = value();
    const shape = shapeProblem(content);
    if (shape !== undefined) findings.push({ source, ...positionOf([]), message: shape });
    return objectsIn(content, [], checks).map((object) => ({
      check: object.check,
      value: object.value,
      locate: (path: FieldPath) => ({ source, ...positionOf([...object.at, ...path]) }),
    }));
  });
}

/** The objects to check in a document: itself, or the items of a list. */
function objectsIn(
  value: unknown,
  at: FieldPath,
  checks: readonly Check[],
): { check: Check; value: unknown; at: FieldPath }[] {
  const { kind, apiVersion, items } = fieldsOf(value);
  if (kind === 'List' && Array.isArray(items)) {
    return items.flatMap((item, index) => objectsIn(item, [...at, 'items', index], checks));
  }
  const group = typeof apiVersion === 'string' ? apiVersion.split('/')[0] : '';
  const check = checks.find(
    ({ resource }) => kind === resource.kind.kind && ['', resource.kind.group].includes(group!),
  );
  return check === undefined ? [] : [{ check, value, at }];
}

function schemaProblems(value: unknown, { kind, definition }: Resource<KubeObject>): Problem[] {
  const { apiVersion, metadata, spec, status: _status, kind: _kind, ...unknown } = fieldsOf(value);
  const { name, namespace } = fieldsOf(metadata);
  const wanted = apiVersionOf(kind);
  const problems: Problem[] = Object.keys(unknown).map((field) => unknownField([field]));
  const served = [wanted, ...(definition.alsoServed ?? []).map((version) => `${kind.group}/${version}`)];
  if (!served.includes(apiVersion as string)) {
    problems.push({ at: ['apiVersion'], message: `apiVersion: must be ${served.join(' or ')}` });
  }
  if (typeof name !== 'string' || name === '') {
    problems.push({ at: ['metadata', 'name'], message: 'metadata.name: Required value' });
  }
  if (namespace !== undefined && typeof namespace !== 'string') {
    problems.push({ at: ['metadata', 'namespace'], message: 'metadata.namespace: must be a string' });
  }
  if (spec === undefined && definition.spec.safeParse({}).success) return problems; // everything in it has a default
  const parsed = definition.spec.safeParse(spec);
  if (parsed.success) return [...problems, ...unknownFields(spec, parsed.data, ['spec'])];
  return [...problems, ...parsed.error.issues.map((issue) => problemOf(issue, 'spec', spec))];
}

/** What a server would refuse in the spec and the status of an object that somebody wrote; unknown fields it drops. */
export function typeProblems({ spec, status }: AnyObject, { definition }: Resource<KubeObject>): readonly Problem[] {
  const parts = [
    ...(spec === undefined && definition.spec.safeParse({}).success ? [] : [['spec', spec] as const]),
    ...(status === undefined ? [] : [['status', status] as const]),
  ];
  return parts.flatMap(([part, value]) => {
    const { error } = definition[part].safeParse(value);
    return (error?.issues ?? []).map((issue) => problemOf(issue, part, value));
  });
}

const TYPES: Readonly<Record<string, string>> = { array: 'a list', object: 'an object', string: 'a string' };

function problemOf(issue: z.core.$ZodIssue, part: 'spec' | 'status', value: unknown): Problem {
  const path = issue.path.map((each) => (typeof each === 'symbol' ? String(each) : each));
  const at = [part, ...path];
  return { at, message: `${pathText(at)}: ${issueText(issue, valueAt(value, path))}` };
}

function issueText(issue: z.core.$ZodIssue, found: unknown): string {
  if (issue.code !== 'invalid_type' || !issue.message.startsWith('Invalid input: expected')) {
    const isScalar = found !== undefined && (typeof found !== 'object' || found === null);
    const isTold = !isScalar || issue.message.includes(stringifyJson(found));
    return isTold ? issue.message : `${issue.message}, found ${stringifyJson(found)}`;
  }
  if (found === undefined) return 'Required value';
  const quotes = issue.expected === 'string' && typeof found !== 'object' ? ': put it in quotes' : '';
  return `must be ${TYPES[issue.expected] ?? `a ${issue.expected}`}, and is ${stringifyJson(found)}${quotes}`;
}

function valueAt(value: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>((found, part) => (found as Record<string | number, unknown> | undefined)?.[part], value);
}

/** The schema drops what it does not know, so whatever is missing from its result is unknown. */
function unknownFields(written: unknown, known: unknown, at: FieldPath): Problem[] {
  if (Array.isArray(written)) {
    return written.flatMap((item, index) => unknownFields(item, (known as unknown[])[index], [...at, index]));
  }
  if (typeof written !== 'object' || written === null) return [];
  return Object.entries(written).flatMap(([field, value]) => {
    const place = [...at, field];
    const fields = fieldsOf(known);
    return Object.hasOwn(fields, field) ? unknownFields(value, fields[field], place) : [unknownField(place)];
  });
}

function unknownField(at: FieldPath): Problem {
  return { at, message: `unknown field ${JSON.stringify(pathText(at))}` };
}

function pathText(at: FieldPath): string {
  return at
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '');
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
