// What the kinds of `supergloo.solo.io/v1` and `gloo.solo.io/v1` have in common. Their manifests are protobuf messages
// written as JSON: both spellings of a field (`targetMesh`, `target_mesh`), null for what is absent, and nothing
// required.
import * as z from 'zod';
import { Conditions, hints, int64 } from './core.ts';

const PRESERVED = { 'x-kubernetes-preserve-unknown-fields': true } as const;

/** A message: the server keeps every field of it, in either spelling; readers refuse fields that it does not name. */
export const message = <S extends z.ZodRawShape>(shape: S): z.ZodObject<S> => hints(z.object(shape), PRESERVED);

/** A message with fields that do not concern us. */
export const openMessage = <S extends z.ZodRawShape>(shape: S): z.ZodObject<S, z.core.$loose> =>
  hints(z.looseObject(shape), PRESERVED);

/** A message of which only the presence matters. */
export const opaque = () => openMessage({});

export const stringMap = () => z.record(z.string(), z.string());
export const strings = () => z.array(z.string());
export const uint32 = () => z.int().min(0).max(4_294_967_295);

/** A `google.protobuf.Duration`. */
export const duration = () => z.string();

export const ResourceRef = () =>
  message({
    name: z.string().describe('Name of the object.').nullish(),
    namespace: z
      .string()
      .describe('Namespace of the object; the first object of that name in any namespace when empty.')
      .nullish(),
  });

/** Selects pods or upstreams by one of the fields; selects nothing when none is set. */
export const PodSelector = () =>
  message({
    labelSelector: message({
      labelsToMatch: stringMap()
        .describe('Labels with the value that each must have; none of them matches all.')
        .nullish(),
    })
      .describe('By labels: for upstreams, those that their service selects pods by.')
      .nullish(),
    upstreamSelector: message({
      upstreams: z
        .array(ResourceRef().nullable())
        .describe('The upstreams; each must exist and have pods in the mesh.')
        .nullish(),
    })
      .describe('By upstream.')
      .nullish(),
    serviceSelector: message({
      services: z.array(ResourceRef().nullable()).describe('The services, each with its namespace.').nullish(),
    })
      .describe('By service.')
      .nullish(),
    namespaceSelector: message({
      namespaces: strings().describe('The namespaces.').nullish(),
    })
      .describe('By namespace.')
      .nullish(),
  });

/** Status of an object: the fields of the original, and conditions. */
export const SoloStatus = () =>
  message({
    state: hints(z.union([z.int(), z.string()]), { 'x-kubernetes-int-or-string': true })
      .describe('0 for pending, 1 for accepted, 2 for rejected.')
      .optional(),
    reason: z.string().describe('Why it was rejected.').optional(),
    reported_by: z.string().describe('Who reported it.').optional(),
    subresource_statuses: hints(z.record(z.string(), z.unknown()), { 'x-kubernetes-preserve-unknown-fields': true })
      .describe('The same for the resources made from it.')
      .optional(),
    observedGeneration: int64().describe('The generation that this status is about.').optional(),
    conditions: Conditions().describe('Its state.').optional(),
  });

export const STATE_COLUMNS = [
  { name: 'State', type: 'string', jsonPath: '.status.state', description: '0 pending, 1 accepted, 2 rejected' },
  { name: 'Reason', type: 'string', jsonPath: '.status.reason', priority: 1 },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
] as const;
