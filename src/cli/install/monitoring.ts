// How Prometheus finds the metrics, and what it tells people of.
import type { AnyObject } from '../../kube/objects.ts';
import { NAME, SELECTOR } from './installation.ts';
import type { Installation } from './installation.ts';
import { alerts } from './chart-data.ts';

const METRICS = `${NAME}-metrics`;

export function monitoringObjects({ values, namespace }: Installation): AnyObject[] {
  const { serviceMonitor, prometheusRule } = values;
  const apiVersion = 'monitoring.coreos.com/v1';
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: METRICS, namespace, labels: { 'app.kubernetes.io/component': 'metrics' } },
    spec: { selector: SELECTOR, ports: [{ name: 'metrics', port: 8080, targetPort: 'metrics' }] },
  };
  const monitor = {
    apiVersion,
    kind: 'ServiceMonitor',
    metadata: { name: NAME, namespace, labels: serviceMonitor.labels },
    spec: {
      selector: { matchLabels: { ...SELECTOR, 'app.kubernetes.io/component': 'metrics' } },
      endpoints: [{ port: 'metrics', interval: serviceMonitor.interval }],
    },
  };
  const rule = {
    apiVersion,
    kind: 'PrometheusRule',
    metadata: { name: NAME, namespace, labels: prometheusRule.labels },
    spec: { groups: [{ name: NAME, rules: alerts }] },
  };
  return [service, ...(serviceMonitor.enabled ? [monitor] : []), ...(prometheusRule.enabled ? [rule] : [])];
}
