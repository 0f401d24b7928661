// Objects for tests of the simulation.
import { pods } from '../../kinds/types.ts';
import type { Condition, Labels } from '../../kinds/types.ts';
import type { TestCluster } from './cluster.ts';

/** The annotation that changes how a pod is simulated. */
export const simulate = 'offshoot.dev/simulate';

function template(app: string, image = 'app:1', annotations: Record<string, string> = {}): object {
  return { metadata: { labels: { app }, annotations }, spec: { containers: [{ name: 'main', image }] } };
}

/** A workload of the apps group whose pods have the label `app` with its name. */
export function workload(kind: string, name: string, spec: object, annotations: Record<string, string> = {}): object {
  const selector = { matchLabels: { app: name } };
  const metadata = { name, namespace: 'default' };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata,
    spec: { selector, template: template(name, 'app:1', annotations), ...spec },
  };
}

/** An edit that changes the image of all containers in the template. */
export function withImage<T extends { spec: { template: unknown } }>(image: string): (object: T) => T {
  return (object) => {
    const { metadata, spec } = object.spec.template as { metadata: object; spec: { containers: object[] } };
    const containers = spec.containers.map((container) => ({ ...container, image }));
    return { ...object, spec: { ...object.spec, template: { metadata, spec: { ...spec, containers } } } };
  };
}

export function reason(conditions: readonly Condition[] | undefined, type: string): string | undefined {
  return conditions?.find((condition) => condition.type === type)?.reason;
}

/** The images of all pods, sorted by pod name. */
export function images(cluster: TestCluster): (string | undefined)[] {
  return cluster.list(pods).map((pod) => pod.spec.containers[0]?.image);
}

/** A job whose pods run once. */
export function job(name: string, spec: object, annotations: Record<string, string> = {}): object {
  const podSpec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'app:1' }] };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'default' },
    spec: { template: { metadata: { annotations }, spec: podSpec }, ...spec },
  };
}

/** A pod of one container. */
export function pod(
  name: string,
  labels: Labels = {},
  more: { annotations?: Labels; container?: object; spec?: object } = {},
): object {
  const containers = [{ name: 'main', image: 'app:1', ...more.container }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels, annotations: more.annotations ?? {} },
    spec: { containers, ...more.spec },
  };
}

export function service(spec: object, name = 'web'): object {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'default' }, spec };
}
