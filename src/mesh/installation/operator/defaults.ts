// The default IstioOperator: the profile of each cluster size. The common part of both is in shared-defaults.ts.
import { DISCLAIMER, DISCLAIMER_TEXT, EGRESS_GATEWAY, INGRESS_GATEWAY, ISTIO_NAMESPACE } from '../../names.ts';
import { MODULE_LABEL, MODULE_NAME } from '../../names.ts';
import { overlay } from './operator.ts';
import type { IstioOperator, Overlay, Tree } from './operator.ts';
import { sharedMeshConfig, sharedValues } from './shared-defaults.ts';
import type { ClusterSize } from './size.ts';

/** The settings that differ between the sizes. */
interface Profile {
  readonly pilot: { readonly resources: Tree; readonly replicas: readonly [number, number] };
  readonly ingress: {
    readonly resources: Tree;
    readonly replicas: readonly [number, number];
    readonly scaled: boolean;
  };
  readonly cni: Tree;
  readonly proxy: Tree;
  readonly podDisruptionBudgets: boolean;
}

const resources = (requests: readonly [string, string], limits: readonly [string, string]): Tree => ({
  requests: { cpu: requests[0], memory: requests[1] },
  limits: { cpu: limits[0], memory: limits[1] },
});

const PROFILES: Readonly<Record<ClusterSize, Profile>> = {
  Production: {
    pilot: { resources: resources(['100m', '512Mi'], ['4000m', '2Gi']), replicas: [2, 5] },
    ingress: { resources: resources(['100m', '128Mi'], ['2000m', '1024Mi']), replicas: [3, 10], scaled: true },
    cni: resources(['100m', '512Mi'], ['500m', '1024Mi']),
    proxy: resources(['10m', '192Mi'], ['1000m', '1024Mi']),
    podDisruptionBudgets: true,
  },
  Evaluation: {
    pilot: { resources: resources(['50m', '128Mi'], ['1000m', '1024Mi']), replicas: [1, 1] },
    ingress: { resources: resources(['10m', '32Mi'], ['1000m', '1024Mi']), replicas: [1, 5], scaled: false },
    cni: resources(['10m', '128Mi'], ['250m', '384Mi']),
    proxy: resources(['10m', '32Mi'], ['250m', '254Mi']),
    podDisruptionBudgets: false,
  },
};

/** The images and the cluster size. */
export interface DefaultsOptions {
  readonly size: ClusterSize;
  /** The registry of the images, such as `docker.io/istio`. */
  readonly hub: string;
  readonly tag: string;
}

/** The IstioOperator for an Istio resource without a spec. */
export function defaultOperator({ size, hub, tag }: DefaultsOptions): IstioOperator {
  const profile = PROFILES[size];
  return {
    apiVersion: 'install.istio.io/v1alpha1',
    kind: 'IstioOperator',
    metadata: {
      name: 'default-operator',
      namespace: ISTIO_NAMESPACE,
      labels: { [MODULE_LABEL]: MODULE_NAME },
    },
    spec: {
      profile: 'default',
      hub,
      tag,
      components: {
        base: { enabled: true },
        pilot: { enabled: true, k8s: pilot(profile) },
        cni: { enabled: true, namespace: ISTIO_NAMESPACE, k8s: cni(profile) },
        ingressGateways: [{ name: INGRESS_GATEWAY, enabled: true, k8s: ingressGateway(profile) }],
        egressGateways: [
          {
            name: EGRESS_GATEWAY,
            enabled: false,
            k8s: {
              resources: resources(['10m', '120Mi'], ['2000m', '1024Mi']),
              overlays: [podLabel('Deployment', EGRESS_GATEWAY)],
            },
          },
        ],
      },
      meshConfig: sharedMeshConfig,
      values: overlay(sharedValues, {
        global: {
          proxy: { resources: profile.proxy },
          defaultPodDisruptionBudget: { enabled: profile.podDisruptionBudgets },
        },
        pilot: { autoscaleMin: profile.pilot.replicas[0], autoscaleMax: profile.pilot.replicas[1] },
        gateways: {
          [INGRESS_GATEWAY]: {
            autoscaleMin: profile.ingress.replicas[0],
            autoscaleMax: profile.ingress.replicas[1],
          },
        },
      }),
    },
  };
}

const SECURITY_CONTEXT = {
  runAsUser: 65_534,
  runAsGroup: 65_534,
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};

function pilot({ pilot: { resources: own, replicas } }: Profile) {
  return {
    affinity: apartFrom('istiod'),
    env: [{ name: 'PILOT_HTTP10', value: '1' }],
    hpaSpec: autoscaler('istiod', replicas),
    podAnnotations: { [DISCLAIMER]: DISCLAIMER_TEXT },
    resources: own,
    securityContext: SECURITY_CONTEXT,
    serviceAnnotations: {
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': '15014',
      [DISCLAIMER]: DISCLAIMER_TEXT,
    },
    overlays: [podLabel('Deployment', 'istiod')],
  };
}

function ingressGateway({ ingress: { resources: own, replicas, scaled } }: Profile) {
  const metrics = ['cpu', 'memory'].map((name) => ({
    type: 'Resource',
    resource: { name, target: { type: 'Utilization', averageUtilization: 80 } },
  }));
  return {
    affinity: apartFrom(INGRESS_GATEWAY),
    hpaSpec: { ...autoscaler(INGRESS_GATEWAY, replicas), ...(scaled && { metrics }) },
    resources: own,
    securityContext: SECURITY_CONTEXT,
    strategy: { rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 } },
    overlays: [podLabel('Deployment', INGRESS_GATEWAY)],
  };
}

function cni({ cni: own }: Profile) {
  return {
    affinity: apartFrom('istio-cni-node'),
    resources: own,
    overlays: [podLabel('DaemonSet', 'istio-cni-node')],
  };
}

function autoscaler(name: string, [minReplicas, maxReplicas]: readonly [number, number]) {
  return { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name }, minReplicas, maxReplicas };
}

/** The label that identifies Istio's pods in the namespace. */
function podLabel(kind: string, name: string): Overlay {
  const path = `spec.template.metadata.labels.${MODULE_LABEL.replaceAll('.', '\\.')}`;
  return { apiVersion: 'apps/v1', kind, name, patches: [{ path, value: MODULE_NAME }] };
}

function apartFrom(app: string): Tree {
  const term = {
    labelSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: [app] }] },
    topologyKey: 'kubernetes.io/hostname',
  };
  return {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }],
    },
  };
}
