// The parameters of classes, and their validation.
import * as z from 'zod';
import type { DeploymentTargetClass } from '../../api/targets.ts';
import { parseDuration } from '../../kube/index.ts';

/** Built when it is first used: building schemas takes a while. */
function once<T>(build: () => T): () => T {
  let built: T | undefined;
  return () => (built ??= build());
}

const count = (least: number) =>
  z.int(`must be a whole number of at least ${least}`).min(least, `must be a whole number of at least ${least}`);

const duration = (leastMs: number, least: string) =>
  z.string(`must be a duration such as ${least}`).refine((text) => (parseDuration(text) ?? 0) >= leastMs, {
    message: `must be a duration of at least ${least}, such as 12h or 7d`,
  });

const QUANTITY = 'must be a quantity such as 2, 500m or 4Gi';
const quantity = () =>
  z
    .union([z.number(), z.string()], QUANTITY)
    .transform(String)
    .refine((text) => /^\d+(\.\d+)?([kMGTPE]i?|Ki|m|e\d+)?$/.test(text), QUANTITY);
const quantities = () => z.record(z.string(), quantity(), 'must be a map from resources to quantities');

const labelValue = () =>
  z.string('must be a string: quote it').regex(/^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/, {
    message: 'must be the value of a label: at most 63 letters, digits, dashes, dots and underscores',
  });

const everyClass = () => ({
  maxPerNamespace: count(0).optional(),
  maxTotal: count(0).optional(),
  provisioningDeadline: duration(1000, '1s').optional(),
  ttl: duration(1000, '1s').optional(),
  allowStaticMatch: z.boolean('must be true or false').default(true),
});

/** Parameters that every class may have; the others belong to its provisioner. */
const ClassParameters = once(() => z.object(everyClass()));
export type ClassParameters = z.output<ReturnType<typeof ClassParameters>>;

const NamespaceParameters = once(() =>
  z.strictObject({
    ...everyClass(),
    labels: z.record(z.string(), labelValue(), 'must be a map of labels').default({}),
    quota: quantities().optional(),
    limits: z
      .strictObject(
        { default: quantities().optional(), defaultRequest: quantities().optional(), max: quantities().optional() },
        'must be a map with default, defaultRequest and max',
      )
      .optional(),
    networkPolicy: z.enum(['isolated', 'none'], 'must be isolated or none').default('isolated'),
    allowFrom: z.array(z.string('must be the name of a namespace'), 'must be a list of namespaces').default([]),
    tokenLifetime: duration(600_000, '10m').optional(),
    warm: count(0).default(0),
  }),
);
/** The parameters of a class of the namespace provisioner. */
export type NamespaceParameters = z.output<ReturnType<typeof NamespaceParameters>>;

/** Parameters, or their problems. */
export interface Parsed<T> {
  readonly value?: T;
  readonly problem?: string;
  /** The problems one by one. */
  readonly issues?: readonly Issue[];
}

interface Issue {
  /** The path below the parameters. */
  readonly path: readonly string[];
  /** The value; absent for an unknown field. */
  readonly found?: unknown;
  readonly problem: string;
}

export function classParameters(ofClass: DeploymentTargetClass): Parsed<ClassParameters> {
  return parsed(ClassParameters(), ofClass);
}

export function namespaceParameters(ofClass: DeploymentTargetClass): Parsed<NamespaceParameters> {
  return parsed(NamespaceParameters(), ofClass);
}

function parsed<S extends z.ZodType>(schema: S, { metadata, spec }: DeploymentTargetClass): Parsed<z.output<S>> {
  const result = schema.safeParse(spec.parameters ?? {});
  if (result.success) return { value: result.data };
  const issues = result.error.issues.flatMap((issue) => explain(issue, spec.parameters));
  const texts = issues.map(({ path, problem, ...rest }) => {
    const found = 'found' in rest ? `, not ${JSON.stringify(rest.found)}` : '';
    return `${['parameters', ...path].join('.')} ${problem}${found}`;
  });
  return { problem: `DeploymentTargetClass ${metadata.name}: ${texts.join('; ')}`, issues };
}

function explain(issue: z.core.$ZodIssue, parameters: unknown): Issue[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key], problem: 'is not known here' }));
  }
  const found = path.reduce<unknown>(
    (value, key) => (value as Readonly<Record<string, unknown>> | undefined)?.[key],
    parameters,
  );
  return [{ path, found, problem: issue.message }];
}
