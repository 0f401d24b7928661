// Parts of Kubernetes' own types that our kinds contain.
import * as z from 'zod';
import type { KubernetesHints } from './resource.ts';

/** Adds formats and `x-kubernetes-*` extensions to a schema. */
export function hints<S extends z.ZodType>(schema: S, meta: KubernetesHints & { type?: string; pattern?: string }): S {
  return schema.meta(meta as Record<string, unknown>);
}

const ATOMIC = { 'x-kubernetes-map-type': 'atomic' } as const;

/** A 64-bit integer: a bigint where a number would not hold it exactly. */
export const int64 = (): z.ZodType<number | bigint, number | bigint> =>
  hints(
    z.custom<number | bigint>((value) => typeof value === 'number' || typeof value === 'bigint'),
    {
      type: 'integer',
      format: 'int64',
    },
  );

export const int32 = (): z.ZodInt32 => hints(z.int32(), { format: 'int32' });

/** A time, like `metav1.Time`. */
export const time = (): z.ZodString => hints(z.string(), { format: 'date-time' });

const keySelector = (what: string) =>
  hints(
    z.object({
      key: z.string().describe('The key to select.'),
      name: z.string().default('').describe(`Name of the ${what}.`).optional(),
      optional: z.boolean().describe(`Whether the ${what} or its key may be absent.`).optional(),
    }),
    ATOMIC,
  );

/** `core/v1 EnvVar`. */
export const EnvVar = () =>
  z.object({
    name: z.string().describe('Name of the environment variable.'),
    value: z.string().describe('Its value; may refer to other variables as $(NAME).').optional(),
    valueFrom: z
      .object({
        configMapKeyRef: keySelector('ConfigMap').describe('A key of a ConfigMap.').optional(),
        fieldRef: hints(
          z.object({
            apiVersion: z.string().describe('Version of the schema that the path is written for.').optional(),
            fieldPath: z.string().describe('Path of the field of the pod.'),
          }),
          ATOMIC,
        )
          .describe('A field of the pod.')
          .optional(),
        fileKeyRef: hints(
          z.object({
            key: z.string().describe('The key within the file.'),
            optional: z.boolean().default(false).describe('Whether the file or its key may be absent.').optional(),
            path: z.string().describe('Path within the volume.'),
            volumeName: z.string().describe('Name of the volume that holds the file.'),
          }),
          ATOMIC,
        )
          .describe('A key of a file in a volume.')
          .optional(),
        resourceFieldRef: hints(
          z.object({
            containerName: z.string().describe('Container name.').optional(),
            divisor: hints(z.union([z.int(), z.string()]), {
              'x-kubernetes-int-or-string': true,
              pattern:
                '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
            })
              .describe('Output format of the resource.')
              .optional(),
            resource: z.string().describe('The resource to select.'),
          }),
          ATOMIC,
        )
          .describe('A resource of the container.')
          .optional(),
        secretKeyRef: keySelector('Secret').describe('A key of a Secret.').optional(),
      })
      .describe('Source of the value; cannot be combined with value.')
      .optional(),
  });

/** A status condition by the API conventions. */
const Condition = () =>
  z.object({
    type: z.string().describe('Type of the condition.'),
    status: z.enum(['True', 'False', 'Unknown']).describe('Status of the condition: True, False or Unknown.'),
    reason: z
      .string()
      .min(1)
      .max(1024)
      .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
      .describe('Reason in CamelCase.'),
    message: z.string().describe('Message for people.'),
    observedGeneration: hints(z.int(), { format: 'int64' })
      .describe('The generation that the condition is about.')
      .optional(),
    lastTransitionTime: time().describe('When the status last changed.'),
  });

/** Conditions as a plain list, as older kinds have them. */
export const PlainConditions = () => z.array(Condition());

/** The conditions of an object, one of each type. */
export const Conditions = () =>
  hints(z.array(Condition()), {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  });
