// The Deployment with its PodDisruptionBudget and NetworkPolicy.
import type { AnyObject } from '../../kube/objects.ts';
import type { PartData } from './chart-data.ts';
import { DASHBOARD_PORT, dashboardArgs, dashboardCertificate } from './dashboard.ts';
import { NAME, SELECTOR } from './installation.ts';
import type { Installation } from './installation.ts';
import type { Values } from './values.ts';

const PORTS = { webhook: 9443, dashboard: DASHBOARD_PORT, metrics: 8080, health: 8081 };

export function workloadObjects(
  parts: readonly PartData[],
  hasWebhook: boolean,
  installation: Installation,
): AnyObject[] {
  const { values, namespace } = installation;
  const metadata = { name: NAME, namespace };
  const selector = { matchLabels: SELECTOR };
  const ports = portsOf(hasWebhook, values).map(([, port]) => ({ port, protocol: 'TCP' }));
  const ingress = [{ ports }];
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata };
  const policy = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata };
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas: values.replicas,
        selector,
        strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        template: podTemplate(parts, hasWebhook, installation),
      },
    },
    ...(values.podDisruptionBudget.enabled ? [{ ...budget, spec: { maxUnavailable: 1, selector } }] : []),
    ...(values.networkPolicy.enabled
      ? [{ ...policy, spec: { podSelector: selector, policyTypes: ['Ingress'], ingress } }]
      : []),
  ];
}

/** The served ports, by name. */
function portsOf(hasWebhook: boolean, { dashboard }: Values): readonly (readonly [name: string, port: number])[] {
  const isServed: Readonly<Record<string, boolean>> = { webhook: hasWebhook, dashboard: dashboard.enabled };
  return Object.entries(PORTS).filter(([name]) => isServed[name] ?? true);
}

function podTemplate(parts: readonly PartData[], hasWebhook: boolean, installation: Installation): object {
  const { values, version } = installation;
  const { podAnnotations, image, resources } = values;
  const certificate = dashboardCertificate(values);
  const hasCertificate = hasWebhook && values.webhook.certManager;
  const args = [
    'run',
    `--controllers=${parts.map(({ name }) => name).join(',')}`,
    '--leader-elect',
    `--log-level=${values.logLevel}`,
    ...(values.namespaces.length > 0 ? [`--namespaces=${values.namespaces.join(',')}`] : []),
    ...(hasWebhook ? ['--webhook-registration=existing'] : ['--no-webhook']),
    ...(hasCertificate ? ['--webhook-cert-dir=/certificates'] : []),
    ...dashboardArgs(installation),
    ...values.extraArgs,
  ];
  const fieldRef = { fieldPath: 'metadata.namespace' };
  const container = {
    name: NAME,
    image: `${image.repository}:${image.tag || version}`,
    imagePullPolicy: image.pullPolicy,
    args,
    env: [{ name: 'POD_NAMESPACE', valueFrom: { fieldRef } }, ...values.extraEnv],
    ports: portsOf(hasWebhook, values).map(([name, containerPort]) => ({ name, containerPort })),
    readinessProbe: { httpGet: { path: '/readyz', port: 'health' }, periodSeconds: 5 },
    livenessProbe: { httpGet: { path: '/healthz', port: 'health' }, failureThreshold: 6 },
    resources,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'tmp', mountPath: '/tmp' },
      ...(hasCertificate ? [{ name: 'certificates', mountPath: '/certificates', readOnly: true }] : []),
      ...certificate.mounts,
      ...values.extraVolumeMounts,
    ],
  };
  return {
    metadata: {
      labels: { ...values.podLabels, ...SELECTOR },
      ...(Object.keys(podAnnotations).length > 0 && { annotations: podAnnotations }),
    },
    spec: {
      serviceAccountName: NAME,
      ...(values.imagePullSecrets.length > 0 && { imagePullSecrets: values.imagePullSecrets }),
      ...(values.priorityClassName !== '' && { priorityClassName: values.priorityClassName }),
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [container],
      volumes: [
        { name: 'tmp', emptyDir: {} },
        ...(hasCertificate ? [{ name: 'certificates', secret: { secretName: `${NAME}-webhook-cert` } }] : []),
        ...certificate.volumes,
        ...values.extraVolumes,
      ],
      ...placement(values),
    },
  };
}

function placement({ antiAffinity, nodeSelector, tolerations }: Values): object {
  const podAffinityTerm = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: SELECTOR } };
  const terms =
    antiAffinity === 'required'
      ? { requiredDuringSchedulingIgnoredDuringExecution: [podAffinityTerm] }
      : { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm }] };
  return {
    ...(antiAffinity !== 'none' && { affinity: { podAntiAffinity: terms } }),
    ...(Object.keys(nodeSelector).length > 0 && { nodeSelector }),
    ...(tolerations.length > 0 && { tolerations }),
  };
}
