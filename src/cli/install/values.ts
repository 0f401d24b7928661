// The values of the chart in deploy/chart and of `offshoot install`. scripts/chart.ts generates the chart's JSON schema
// from this; deploy/chart/values.yaml repeats the defaults with comments.
import * as z from 'zod';

const map = z.record(z.string(), z.string());
const objects = z.array(z.record(z.string(), z.unknown()));
const size = z.strictObject({ cpu: z.string().optional(), memory: z.string().optional() });
const toggle = (initial: boolean) => z.boolean().default(initial);

const image = z.strictObject({
  repository: z.string().min(1).default('offshoot').describe('Where the image is, without a tag'),
  tag: z.string().default('').describe('Its tag; the version of the chart when empty'),
  pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).default('IfNotPresent'),
});

const parts = z.strictObject({
  environments: toggle(true).describe('DynamicEnv'),
  targets: toggle(false).describe('Deployment targets and claims'),
  mesh: toggle(false).describe('The Istio lifecycle; needs an istioctl in the image'),
  routing: toggle(false).describe('Mesh-neutral routing rules'),
});

const crds = z.strictObject({
  install: toggle(true).describe('Install and update the CustomResourceDefinitions of the parts'),
  keep: toggle(true).describe('Keep them, and with them all objects, when the release is uninstalled'),
});

const webhook = z.strictObject({
  enabled: toggle(true),
  certManager: toggle(false).describe('Use a certificate from cert-manager instead of generating one'),
});

const dashboard = z.strictObject({
  enabled: toggle(false).describe('Serve the dashboard, for people with a token of the cluster'),
  hosts: z.array(z.string().min(1)).default([]).describe('Names that people open it by, such as that of an ingress'),
  writes: toggle(false).describe('Let people create and delete environments there, with their own permissions'),
  session: z.string().default('8h').describe('How long people stay signed in'),
  tlsSecret: z.string().default('').describe('A Secret with tls.crt and tls.key; without one it is served by HTTP'),
});

const serviceMonitor = z.strictObject({
  enabled: toggle(false),
  interval: z.string().default('30s'),
  labels: map.default({}),
});

const grafanaDashboard = z.strictObject({
  enabled: toggle(false),
  labels: map.default({ grafana_dashboard: '1' }).describe('Labels by which the Grafana sidecar finds it'),
});

const resources = z
  .strictObject({
    requests: size.default({ cpu: '50m', memory: '128Mi' }),
    limits: size.default({ memory: '512Mi' }),
  })
  .prefault({});

const valuesSchema = z.strictObject({
  image: image.prefault({}),
  imagePullSecrets: z.array(z.strictObject({ name: z.string() })).default([]),
  replicas: z.int().min(0).default(2),
  parts: parts.prefault({}),
  namespaces: z
    .array(z.string().regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/))
    .default([])
    .describe(
      'Manage environments in these namespaces only, with Roles instead of ClusterRoles; all of them when empty',
    ),
  crds: crds.prefault({}),
  webhook: webhook.prefault({}),
  dashboard: dashboard.prefault({}),
  logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info'),
  extraArgs: z.array(z.string()).default([]).describe('Further flags of "offshoot run"'),
  extraEnv: objects.default([]),
  extraVolumes: objects.default([]),
  extraVolumeMounts: objects.default([]),
  resources,
  priorityClassName: z.string().default(''),
  antiAffinity: z.enum(['preferred', 'required', 'none']).default('preferred').describe('Replicas on different nodes'),
  nodeSelector: map.default({}),
  tolerations: objects.default([]),
  podAnnotations: map.default({}),
  podLabels: map.default({}),
  serviceAccount: z.strictObject({ annotations: map.default({}) }).prefault({}),
  podDisruptionBudget: z.strictObject({ enabled: toggle(true) }).prefault({}),
  networkPolicy: z.strictObject({ enabled: toggle(true) }).prefault({}),
  serviceMonitor: serviceMonitor.prefault({}),
  prometheusRule: z.strictObject({ enabled: toggle(false), labels: map.default({}) }).prefault({}),
  grafanaDashboard: grafanaDashboard.prefault({}),
});

export type Values = z.output<typeof valuesSchema>;
export type PartName = keyof Values['parts'];

/** The JSON schema that Helm validates values with. */
export function valuesJsonSchema(): object {
  const { $schema: _draft, ...schema } = z.toJSONSchema(valuesSchema, { io: 'input' }) as Record<string, unknown>;
  // Charts that include this one pass their own "global" values down.
  const properties = { ...(schema['properties'] as object), global: { type: 'object' } };
  return { $schema: 'http://json-schema.org/draft-07/schema#', title: 'Values of Offshoot', ...schema, properties };
}

/** Validates values and applies defaults. Throws with all invalid fields. */
export function parseValues(given: unknown): Values {
  const { data, error } = valuesSchema.safeParse(given ?? {});
  if (data !== undefined) return data;
  const problems = error.issues.map(({ path, message }) => `${path.join('.') || 'values'}: ${message}`);
  throw new Error(problems.join('\n  '));
}
