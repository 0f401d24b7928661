// The CNI node agent: its ServiceAccount, its configuration and its DaemonSet.
import type { AnyObject } from '../../../../kube/index.ts';
import type { IstioOperator } from '../../operator/operator.ts';
import { imageOf, valueAt } from '../../operator/operator.ts';
import { inNamespace, podTemplate, serviceAccount } from './objects.ts';

const NAME = 'istio-cni-node';
const LABELS = { 'k8s-app': NAME };

/** The objects of the node agent. */
export function cni(operator: IstioOperator): readonly AnyObject[] {
  const k8s = operator.spec.components.cni.k8s ?? {};
  const folder = (name: string): unknown => valueAt(operator.spec.values, `cni.${name}`);
  return [
    serviceAccount('istio-cni', 'Cni'),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: inNamespace('istio-cni-config', 'Cni'),
      data: { CNI_BIN_DIR: folder('cniBinDir'), CNI_CONF_DIR: folder('cniConfDir') },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: inNamespace(NAME, 'Cni', LABELS),
      spec: {
        selector: { matchLabels: LABELS },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
        template: podTemplate(k8s, {
          serviceAccountName: 'istio-cni',
          labels: LABELS,
          container: { name: 'install-cni', image: imageOf(operator, 'cni.image', 'install-cni') },
        }),
      },
    },
  ];
}
