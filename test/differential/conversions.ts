// Conversions of Widgets between two versions, for the scenarios: v1 has `spec.size` and `spec.tag`, v2 has
// `spec.dimensions.size` and `spec.tag`. Paths other than `/convert` return invalid or unusual responses.

type Json = Readonly<Record<string, unknown>>;

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly Json[] };
}

/** Converts an object to a version. The server prunes unknown fields. */
function converted(object: Json, apiVersion: string): Json {
  const { spec, ...rest } = object;
  const next = { ...rest, apiVersion };
  if (spec === undefined) return next;
  const { size, dimensions, ...others } = spec as { size?: unknown; dimensions?: { size?: unknown } };
  const value = size ?? dimensions?.size;
  if (value === undefined) return { ...next, spec: others };
  return {
    ...next,
    spec: { ...others, ...(apiVersion.endsWith('v2') ? { dimensions: { size: value } } : { size: value }) },
  };
}

function withMeta(object: Json, change: (metadata: Json) => unknown): Json {
  return { ...object, metadata: change(object['metadata'] as Json) };
}

/** Changes each converted object, by path. */
const objectChanges: Readonly<Record<string, (object: Json) => unknown>> = {
  '/convert': (object) => object,
  '/convert-kind': (object) => ({ ...object, kind: 'Gadget' }),
  '/convert-version': (object) => ({ ...object, apiVersion: 'example.com/v9' }),
  '/convert-name': (object) => withMeta(object, (metadata) => ({ ...metadata, name: 'other' })),
  '/convert-namespace': (object) => withMeta(object, (metadata) => ({ ...metadata, namespace: 'other' })),
  '/convert-uid': (object) => withMeta(object, (metadata) => ({ ...metadata, uid: 'other' })),
  '/convert-labels': (object) => withMeta(object, (metadata) => ({ ...metadata, labels: { 'not a key': 'x' } })),
  '/convert-number': (object) => withMeta(object, (metadata) => ({ ...metadata, annotations: { number: 5 } })),
  '/convert-list': (object) => withMeta(object, (metadata) => ({ ...metadata, labels: [] })),
  '/convert-metadata': (object) =>
    withMeta(object, (metadata) => ({
      ...metadata,
      labels: { converted: 'yes' },
      annotations: { converted: 'yes' },
      finalizers: ['example.com/added'],
      generation: 99,
      resourceVersion: '1',
      managedFields: [],
    })),
  '/convert-extra': (object) => ({
    ...object,
    extra: 'pruned',
    spec: { ...(object['spec'] as object), extra: 'pruned' },
  }),
};

/** Changes the whole response, by path. */
const responseChanges: Readonly<Record<string, (answer: Json, response: Json) => Json>> = {
  '/convert-failed': (answer, response) => ({
    ...answer,
    response: { ...response, result: { status: 'Failure', message: 'no such size' } },
  }),
  '/convert-silent': (answer, response) => ({ ...answer, response: { ...response, result: {} } }),
  '/convert-none': (answer, response) => ({ ...answer, response: { ...response, convertedObjects: [] } }),
  '/convert-other': (answer, response) => ({ ...answer, response: { ...response, uid: 'another' } }),
  '/convert-empty': ({ apiVersion, kind }) => ({ apiVersion, kind }),
  '/convert-untyped': ({ response }) => ({ response }),
  '/convert-beta': (answer) => ({ ...answer, apiVersion: 'apiextensions.k8s.io/v1beta1' }),
};

/** The response to a ConversionReview; undefined for other paths. */
export function answerConversion(path: string, body: string): string | undefined {
  if (!path.startsWith('/convert')) return undefined;
  const { apiVersion, kind, request } = JSON.parse(body) as Review;
  const change = objectChanges[path] ?? ((object: Json) => object);
  const response = {
    uid: request.uid,
    convertedObjects: request.objects.map((object) => change(converted(object, request.desiredAPIVersion))),
    result: { status: 'Success' },
  };
  const answer = { apiVersion, kind, response };
  return JSON.stringify(responseChanges[path]?.(answer, response) ?? answer);
}
