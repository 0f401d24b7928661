// Validates manifests of our kinds without a cluster: YAML, schema, then the admission rules. Every finding has its
// position in the file. `offshoot env validate` and `offshoot claim validate` print the findings.
import type { z } from 'zod';
import type { Resource } from '../../api/resource.ts';
import { stringifyJson } from '../../kube/json.ts';
import { apiVersionOf, keyOf } from '../../kube/objects.ts';
import type { AnyObject, KubeObject } from '../../kube/objects.ts';
import { parseYaml } from './kubectl-yaml.ts';
import type { FieldPath } from './kubectl-yaml.ts';
import { shapeProblem } from './read.ts';
import { concerns, repaired } from './repair.ts';
import { pathText, unknownField, unknownFieldsOf } from './unknown-fields.ts';

interface Problem {
  readonly at: FieldPath;
  readonly message: string;
  /** It would be admitted nevertheless. */
  readonly isWarning?: true;
}

/** A kind to check. */
export interface Check {
  readonly resource: Resource<KubeObject>;
  /** Applies the admission rules to an object with a valid schema; `before` are the earlier objects of its kind. */
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

/** An object to check, and how to find positions in its file. */
interface Candidate {
  readonly check: Check;
  readonly value: unknown;
  readonly locate: (at: FieldPath) => Omit<Finding, 'message'>;
}

/** Checks texts, each with the name of its source. Objects of other kinds are skipped. */
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
    const problems = [...schema.problems, ...ruleProblems(check, object, schema, before)];
    for (const { at, ...problem } of problems) findings.push({ ...locate(at), ...problem });
    if (schema.problems.length === 0) before.push(object);
    if (problems.every(({ isWarning }) => isWarning))
      valid.push(`${object.kind.toLowerCase()}/${keyOf(object.metadata)}`);
  }
  return { findings, valid };
}

/** The violated rules of an object, except those that follow from schema errors. */
function ruleProblems(
  check: Check,
  object: KubeObject,
  schema: SchemaCheck,
  before: readonly KubeObject[],
): readonly Problem[] {
  if (schema.spec === undefined && schema.problems.length > 0) return [];
  const violations = check.judge({ ...object, ...(schema.spec !== undefined && { spec: schema.spec }) }, before);
  return violations.filter(({ at }) => schema.problems.every((problem) => !concerns(at, problem.at)));
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

interface SchemaCheck {
  readonly problems: readonly Problem[];
  /** The spec that rules can be applied to; undefined if there is none. */
  readonly spec?: unknown;
}

function schemaProblems(value: unknown, resource: Resource<KubeObject>): SchemaCheck {
  const { kind, definition, schemas } = resource;
  const { apiVersion, metadata, spec, status: _status, kind: _kind, ...unknown } = fieldsOf(value);
  const { name, namespace } = fieldsOf(metadata);
  const preferred = apiVersionOf(kind);
  const there = Object.keys(fieldsOf(value));
  const problems: Problem[] = Object.keys(unknown).map((field) => unknownField([field], TOP_FIELDS, there));
  const served = [preferred, ...(definition.alsoServed ?? []).map((version) => `${kind.group}/${version}`)];
  if (!served.includes(apiVersion as string)) {
    problems.push({ at: ['apiVersion'], message: `apiVersion: must be ${served.join(' or ')}` });
  }
  if (typeof name !== 'string' || name === '') {
    problems.push({ at: ['metadata', 'name'], message: 'metadata.name: Required value' });
  }
  if (namespace !== undefined && typeof namespace !== 'string') {
    problems.push({ at: ['metadata', 'namespace'], message: 'metadata.namespace: must be a string' });
  }
  const isNamed = typeof name === 'string' && name !== '' && (namespace === undefined || typeof namespace === 'string');
  if (spec === undefined && schemas.spec.safeParse({}).success) return { problems }; // everything in it has a default
  const { error, data } = schemas.spec.safeParse(spec);
  if (error === undefined && isAllKnown(spec, data)) return { problems, ...(isNamed && { spec }) };
  const issues = error?.issues ?? [];
  const judgeable = isNamed ? repaired(spec, issues, schemas.spec) : undefined;
  const found = [...issues.map((issue) => problemOf(issue, 'spec', spec)), ...unknownFieldsOf(spec, resource)];
  return { problems: [...problems, ...found], ...(judgeable !== undefined && { spec: judgeable }) };
}

const TOP_FIELDS = ['apiVersion', 'kind', 'metadata', 'spec'];

/** Type errors in the spec and status of an object that an API server would reject; it drops unknown fields. */
export function typeProblems({ spec, status }: AnyObject, { schemas }: Resource<KubeObject>): readonly Problem[] {
  const parts = [
    ...(spec === undefined && schemas.spec.safeParse({}).success ? [] : [['spec', spec] as const]),
    ...(status === undefined ? [] : [['status', status] as const]),
  ];
  return parts.flatMap(([part, value]) => {
    const { error } = schemas[part].safeParse(value);
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
    const hasValue = !isScalar || issue.message.includes(stringifyJson(found));
    return hasValue ? issue.message : `${issue.message}, found ${stringifyJson(found)}`;
  }
  if (found === undefined) return 'Required value';
  const quotes = issue.expected === 'string' && typeof found !== 'object' ? ': put it in quotes' : '';
  return `must be ${TYPES[issue.expected] ?? `a ${issue.expected}`}, and is ${stringifyJson(found)}${quotes}`;
}

function valueAt(value: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>((found, part) => (found as Record<string | number, unknown> | undefined)?.[part], value);
}

/** The schema drops unknown fields, so a field that is missing in its result is unknown. */
function isAllKnown(written: unknown, known: unknown): boolean {
  if (Array.isArray(written)) return written.every((item, index) => isAllKnown(item, (known as unknown[])[index]));
  if (typeof written !== 'object' || written === null) return true;
  const fields = fieldsOf(known);
  return Object.entries(written).every(
    ([field, value]) => Object.hasOwn(fields, field) && isAllKnown(value, fields[field]),
  );
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
