// Sends a ConversionReview to a conversion webhook, and validates the response.
import { randomUUID } from 'node:crypto';
import type { AnyObject, JsonObject } from '../../kube/objects.ts';
import { labelErrors } from '../kinds/validate/common.ts';
import { annotationErrors } from '../kinds/validate/meta.ts';
import { isObject } from '../patch/json.ts';
import type { ConversionWebhook } from '../resource.ts';
import { Fault } from '../rest/fault.ts';
import { errorsText } from '../schema/field-error.ts';
import { postReview } from '../webhook-client.ts';
import type { ServiceResolver } from '../webhook-client.ts';

const timeoutSeconds = 30;
const group = 'apiextensions.k8s.io';

/** Converts objects to a version, in order. Throws a Fault when the webhook fails or its response is invalid. */
export async function convertByWebhook(
  webhook: ConversionWebhook,
  objects: readonly AnyObject[],
  apiVersion: string,
  resolve: ServiceResolver,
): Promise<AnyObject[]> {
  try {
    return await review(webhook, objects, apiVersion, resolve);
  } catch (error) {
    if (!(error instanceof Fault) || objects.length === 1) throw error;
  }
  // The real server converts one object at a time. Retrying like that supports webhooks that expect it, and reports the
  // first object that cannot be converted.
  const converted: AnyObject[] = [];
  for (const object of objects) converted.push(...(await review(webhook, [object], apiVersion, resolve)));
  return converted;
}

async function review(
  webhook: ConversionWebhook,
  objects: readonly AnyObject[],
  apiVersion: string,
  resolve: ServiceResolver,
): Promise<AnyObject[]> {
  const fail = (what: string): never => {
    const { apiVersion: from, kind } = objects[0]!;
    throw new Fault(500, '', `conversion webhook for ${from}, Kind=${kind} ${what}`);
  };
  const uid = randomUUID();
  const { reviewVersion: version } = webhook;
  const request = { uid, desiredAPIVersion: apiVersion, objects };
  const type = { kind: 'ConversionReview', apiVersion: `${group}/${version}` };
  let answers: readonly unknown[] = [];
  try {
    answers = convertedObjects(
      await postReview(webhook.clientConfig, { ...type, request }, resolve, timeoutSeconds),
      version === 'v1' ? { type, uid } : undefined,
    );
  } catch (error) {
    fail(`failed: ${(error as Error).message}`);
  }
  if (answers.length !== objects.length) fail(`returned ${answers.length} objects, expected ${objects.length}`);
  return objects.map((object, index) => {
    const answer = answers[index];
    const converted: JsonObject = isObject(answer) ? answer : {};
    const wrong = wrongType(object, converted, apiVersion);
    if (wrong !== undefined) fail(`returned invalid object at index 0: ${wrong}`);
    const other = otherObject(object, converted);
    if (other !== undefined) fail(`returned invalid object: ${other}`);
    try {
      return { ...converted, metadata: restoredMetadata(object, converted) } as unknown as AnyObject;
    } catch (error) {
      return fail(`returned invalid metadata: ${(error as Error).message}`);
    }
  });
}

/** The objects of a successful response. For version v1, the type and UID must match the request. */
function convertedObjects(
  review: unknown,
  expected: { readonly type: { readonly kind: string; readonly apiVersion: string }; readonly uid: string } | undefined,
): readonly unknown[] {
  const answered = isObject(review) ? review : {};
  const { apiVersion, kind, response } = answered;
  const [version = '', expectedVersion = ''] = [word(apiVersion), expected?.type.apiVersion ?? ''].map(
    (text) => text.split('/')[1],
  );
  if (expected !== undefined && kind === expected.type.kind && version === 'v1beta1') {
    throw new Error(`converting (${version}.${kind}) to (${expectedVersion}.${kind}): unknown conversion`);
  }
  if (expected !== undefined && (apiVersion !== expected.type.apiVersion || kind !== expected.type.kind)) {
    const typeText = (type: JsonObject): string => `${word(type['apiVersion']) || '/'}, Kind=${word(type['kind'])}`;
    throw new Error(`expected webhook response of ${typeText(expected.type)}, got ${typeText(answered)}`);
  }
  if (!isObject(response)) throw new Error('no response provided');
  if (expected !== undefined && response['uid'] !== expected.uid) {
    throw new Error(`expected response.uid=${JSON.stringify(expected.uid)}, got "${word(response['uid'])}"`);
  }
  const { status, message } = isObject(response['result']) ? response['result'] : ({} as JsonObject);
  if (status !== 'Success') {
    throw new Error(word(message) || `response.result.status was '${word(status)}', not 'Success'`);
  }
  const { convertedObjects: objects } = response;
  return Array.isArray(objects) ? objects : [];
}

function word(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function wrongType(object: AnyObject, converted: JsonObject, apiVersion: string): string | undefined {
  const { apiVersion: found, kind } = converted;
  if (found !== apiVersion) return `invalid groupVersion (expected ${apiVersion}, received ${word(found)})`;
  return kind === object.kind ? undefined : `invalid kind (expected ${object.kind}, received ${word(kind)})`;
}

/** A conversion must not change name, namespace and UID. */
function otherObject({ metadata }: AnyObject, converted: JsonObject): string | undefined {
  const given = isObject(converted['metadata']) ? converted['metadata'] : ({} as JsonObject);
  const fields = { name: 'name', namespace: 'namespace', uid: 'UID' } as const;
  for (const [field, shown] of Object.entries(fields)) {
    const expected = metadata[field as keyof typeof fields] ?? '';
    if (word(given[field]) !== expected) return `must have the same ${shown}: ${expected} != ${word(given[field])}`;
  }
  return undefined;
}

/** Restores the metadata, except labels and annotations, which the webhook may change. */
function restoredMetadata({ metadata }: AnyObject, converted: JsonObject): JsonObject {
  const { metadata: given } = converted;
  if (given === undefined) throw new Error('missing metadata in converted object');
  if (!isObject(given)) throw new Error(`invalid metadata of type ${goType(given)} in converted object`);
  const { labels: _labels, annotations: _annotations, ...kept } = metadata;
  return {
    ...kept,
    ...changed('labels', given, metadata.labels, (labels) => labelErrors(labels, 'metadata.labels')),
    ...changed('annotations', given, metadata.annotations, (annotations) =>
      annotationErrors(annotations, 'metadata.annotation'),
    ),
  };
}

function changed(
  field: string,
  given: JsonObject,
  before: Readonly<Record<string, string>> = {},
  errorsOf: (value: JsonObject) => Parameters<typeof errorsText>[0],
): JsonObject {
  const value = given[field] ?? undefined;
  if (value === undefined) return {};
  if (!isObject(value)) throw new Error(`invalid metadata.${field} of type ${goType(value)} in converted object`);
  for (const [key, part] of Object.entries(value)) {
    if (typeof part === 'string') continue;
    throw new Error(`metadata.${field}[${key}] must be a string, but is ${goType(part)} in converted object`);
  }
  const entries = Object.entries(value);
  const same = entries.length === Object.keys(before).length && entries.every(([key, part]) => before[key] === part);
  const errors = same ? [] : errorsOf(value);
  if (errors.length > 0) throw new Error(errorsText(errors));
  return { [field]: value };
}

/** The Go type of a value, as in the messages of the real server. */
function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : 'map[string]interface {}';
}
