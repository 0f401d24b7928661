// istiod: its ServiceAccount and RBAC, its configuration, its Service, its Deployment and its webhooks.
import { stringify } from 'yaml';
import type { AnyObject } from '../../../../kube/index.ts';
import { ISTIO_NAMESPACE } from '../../../names.ts';
import { imageOf, overlay } from '../../operator/operator.ts';
import type { IstioOperator } from '../../operator/operator.ts';
import { clusterWide, inNamespace, scaledDeployment, serviceAccount, wantsBudgets } from './objects.ts';

const NAME = 'istiod';
const SELECTOR = { app: NAME, istio: 'pilot' };

/** The objects of the control plane. */
export function controlPlane(operator: IstioOperator): readonly AnyObject[] {
  const k8s = operator.spec.components.pilot.k8s ?? {};
  return [
    serviceAccount(NAME, 'Pilot'),
    ...rbac(),
    ...configuration(operator),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        ...inNamespace(NAME, 'Pilot', SELECTOR),
        ...(k8s['serviceAnnotations'] !== undefined && {
          annotations: k8s['serviceAnnotations'] as Record<string, string>,
        }),
      },
      spec: {
        selector: SELECTOR,
        ports: [
          { name: 'grpc-xds', port: 15_010, protocol: 'TCP' },
          { name: 'https-dns', port: 15_012, protocol: 'TCP' },
          { name: 'https-webhook', port: 443, targetPort: 15_017, protocol: 'TCP' },
          { name: 'http-monitoring', port: 15_014, protocol: 'TCP' },
        ],
      },
    },
    ...scaledDeployment(NAME, k8s, {
      component: 'Pilot',
      selector: SELECTOR,
      labels: {},
      serviceAccountName: NAME,
      budget: wantsBudgets(operator),
      container: { name: 'discovery', image: imageOf(operator, 'pilot.image', 'pilot'), ports: [8080, 15_010, 15_017] },
    }),
    injector(),
  ];
}

/** The configuration of a real istiod: here it is only for people, and for decisions about restarts. */
function configuration({ spec }: IstioOperator): readonly AnyObject[] {
  const configMap = (name: string, data: Record<string, string>): AnyObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: inNamespace(name, 'Pilot'),
    data,
  });
  // As the charts do, adds settings from other fields of the operator.
  const { hub, tag, components } = spec;
  const chosen = { global: { hub, tag }, pilot: { cni: { enabled: components.cni.enabled } } };
  return [
    configMap('istio', { mesh: stringify(spec.meshConfig, { aliasDuplicateObjects: false }) }),
    configMap('istio-sidecar-injector', { values: JSON.stringify(overlay(spec.values, chosen)) }),
  ];
}

function rbac(): readonly AnyObject[] {
  const name = `istiod-clusterrole-${ISTIO_NAMESPACE}`;
  return [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: clusterWide(name, 'Pilot'),
      rules: [
        {
          apiGroups: ['networking.istio.io', 'security.istio.io', 'telemetry.istio.io', 'extensions.istio.io'],
          resources: ['*'],
          verbs: ['get', 'list', 'watch'],
        },
        {
          apiGroups: [''],
          resources: ['pods', 'nodes', 'services', 'namespaces', 'endpoints'],
          verbs: ['get', 'list', 'watch'],
        },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: clusterWide(name, 'Pilot'),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name: NAME, namespace: ISTIO_NAMESPACE }],
    },
  ];
}

/** Nothing serves the webhook, so it must never be called. */
function injector(): AnyObject {
  const { labels, ...metadata } = clusterWide('istio-sidecar-injector', 'Pilot');
  const never = { matchLabels: { 'istio.io/deactivated': 'never-match' } };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { ...metadata, labels: { ...labels, app: 'sidecar-injector', 'istio.io/rev': 'default' } },
    webhooks: [
      {
        name: 'namespace.sidecar-injector.istio.io',
        clientConfig: { service: { name: NAME, namespace: ISTIO_NAMESPACE, path: '/inject', port: 443 } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: '*' }],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Ignore',
        namespaceSelector: never,
        objectSelector: never,
      },
    ],
  };
}
