// The objects for monitoring: the metrics Service, ServiceMonitor, alerts and Grafana dashboard.
import type { AnyObject } from '../../kube/objects.ts';
import { NAME, SELECTOR } from './installation.ts';
import type { Installation } from './installation.ts';
import { alerts, grafanaDashboard } from './chart-data.ts';

const METRICS = `${NAME}-metrics`;

export function monitoringObjects({ values, namespace }: Installation): AnyObject[] {
  const { serviceMonitor, prometheusRule, grafanaDashboard: grafana } = values;
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
      // Keep the label "namespace" of a metric: it is the namespace of the environment, not of the pod.
      endpoints: [{ port: 'metrics', interval: serviceMonitor.interval, honorLabels: true }],
    },
  };
  const rule = {
    apiVersion,
    kind: 'PrometheusRule',
    metadata: { name: NAME, namespace, labels: prometheusRule.labels },
    spec: { groups: [{ name: NAME, rules: alerts }] },
  };
  const dashboard = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `${NAME}-grafana-dashboard`, namespace, labels: grafana.labels },
    data: { 'offshoot.json': grafanaDashboard },
  };
  return [
    service,
    ...(serviceMonitor.enabled ? [monitor] : []),
    ...(prometheusRule.enabled ? [rule] : []),
    ...(grafana.enabled ? [dashboard] : []),
  ];
}
