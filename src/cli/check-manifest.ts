// Checks manifests of environments without a cluster: YAML, schema, then the rules of admission. Every finding has its
// place in the file. Called by `offshoot env validate`.
import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments } from 'yaml';
import type { Document, Node } from 'yaml';
import type { z } from 'zod';
import { DynamicEnv, dynamicEnv } from '../api/dynamicenv.ts';
import { validateCreate } from '../environments/index.ts';
import type { Place } from '../environments/index.ts';
import { uniqueVersion } from '../environments/names.ts';
import { apiVersionOf, keyOf } from '../kube/objects.ts';
import { kubectlTags } from './manifests.ts';

interface Finding {
  readonly source: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface Checked {
  readonly findings: readonly Finding[];
  /** Keys of the environments without a finding. */
  readonly valid: readonly string[];
}

/** A document that may hold an environment, and how to find places in it. */
interface Candidate {
  readonly value: unknown;
  locate(at: Place): Omit<Finding, 'message'>;
}

/** Checks texts, each with the name of its source. Objects of other kinds are passed over. */
export function checkManifests(
  texts: readonly (readonly [source: string, text: string])[],
  namespace: string,
): Checked {
  const findings: Finding[] = [];
  const valid: string[] = [];
  const seen: DynamicEnv[] = [];
  for (const candidate of texts.flatMap(([source, text]) => candidatesOf(source, text, findings))) {
    const problems = schemaProblems(candidate.value);
    const report = (at: Place, message: string): void => void findings.push({ ...candidate.locate(at), message });
    for (const { at, message } of problems) report(at, message);
    if (problems.length > 0) continue;
    const written = candidate.value as DynamicEnv;
    const env: DynamicEnv = { ...written, metadata: { namespace, ...written.metadata } };
    const namesakes = seen
      .map(({ metadata }) => metadata)
      .filter((other) => uniqueVersion(other) === uniqueVersion(env.metadata));
    const verdict = validateCreate(env, { namesakes });
    seen.push(env);
    if (verdict.allowed) valid.push(keyOf(env.metadata));
    else report(verdict.at, verdict.status.message ?? '');
  }
  return { findings, valid };
}

function candidatesOf(source: string, text: string, findings: Finding[]): Candidate[] {
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, { version: '1.1', merge: true, customTags: kubectlTags, lineCounter: lines });
  const locateOffset = (offset: number): Omit<Finding, 'message'> => {
    const { line, col } = lines.linePos(offset);
    return { source, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  return (Array.isArray(parsed) ? parsed : []).flatMap((document: Document.Parsed) => {
    for (const { pos, message } of document.errors) {
      // What follows the first line is an excerpt of the file, and the place is told apart.
      findings.push({ ...locateOffset(pos[0]), message: message.split('\n')[0]!.replace(/ at line \d+.*$/, '') });
    }
    if (document.errors.length > 0) return [];
    return environmentsIn(document.toJS() as unknown, []).map(({ value, at }) => ({
      value,
      locate: (place: Place) => locateOffset(offsetOf(document.contents, [...at, ...place])),
    }));
  });
}

/** The environments of a document: itself, or the items of a list. */
function environmentsIn(value: unknown, at: Place): { value: unknown; at: Place }[] {
  const { kind, apiVersion, items } = fieldsOf(value);
  if (kind === 'List' && Array.isArray(items)) {
    return items.flatMap((item, index) => environmentsIn(item, [...at, 'items', index]));
  }
  const group = typeof apiVersion === 'string' ? apiVersion.split('/')[0] : '';
  return kind === DynamicEnv.kind && (group === DynamicEnv.group || group === '') ? [{ value, at }] : [];
}

interface Problem {
  readonly at: Place;
  readonly message: string;
}

function schemaProblems(value: unknown): Problem[] {
  const { apiVersion, metadata, spec, status: _status, kind: _kind, ...unknown } = fieldsOf(value);
  const { name, namespace } = fieldsOf(metadata);
  const wanted = apiVersionOf(DynamicEnv);
  const problems: Problem[] = Object.keys(unknown).map((field) => unknownField([field]));
  if (apiVersion !== wanted) problems.push({ at: ['apiVersion'], message: `apiVersion: must be ${wanted}` });
  if (typeof name !== 'string' || name === '') {
    problems.push({ at: ['metadata', 'name'], message: 'metadata.name: Required value' });
  }
  if (namespace !== undefined && typeof namespace !== 'string') {
    problems.push({ at: ['metadata', 'namespace'], message: 'metadata.namespace: must be a string' });
  }
  const parsed = dynamicEnv.definition.spec.safeParse(spec);
  if (parsed.success) return [...problems, ...unknownFields(spec, parsed.data, ['spec'])];
  return [...problems, ...parsed.error.issues.map(problemOf)];
}

function problemOf(issue: z.core.$ZodIssue): Problem {
  const at = ['spec', ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))];
  const missing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  return { at, message: `${pathText(at)}: ${missing ? 'Required value' : issue.message}` };
}

/** The schema drops what it does not know, so whatever is missing from its result is unknown. */
function unknownFields(written: unknown, known: unknown, at: Place): Problem[] {
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

function unknownField(at: Place): Problem {
  return { at, message: `unknown field ${JSON.stringify(pathText(at))}` };
}

function pathText(at: Place): string {
  return at
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '');
}

/** Where a place begins in the text: at its key or item or, when it is not there, at the nearest thing around it. */
function offsetOf(root: Node | null, at: Place): number {
  let node: unknown = root;
  let offset = root?.range?.[0] ?? 0;
  for (const part of at) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
      if (pair === undefined) break;
      offset = (pair.key as Node).range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      offset = (node as Node | undefined)?.range?.[0] ?? offset;
    } else {
      break;
    }
  }
  return offset;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
