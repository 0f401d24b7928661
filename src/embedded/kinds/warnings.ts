// Warnings about objects that are valid but probably not intended. They are sent to the client; the object is stored.
import type { ApiObject, Resource } from '../resource.ts';
import { at, objects, stringMap, strings, text } from './read.ts';

/** Deprecated node labels. */
const renamedLabels: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
};
const criticalPod = 'scheduler.alpha.kubernetes.io/critical-pod';

/** The warnings for an object of a built-in kind. */
export function warningsOf({ group, kind, custom }: Resource, object: ApiObject): string[] {
  if (custom) return [];
  if (kind === 'Service' && strings(object, 'spec', 'externalIPs').length > 0) {
    return ['spec.externalIPs is deprecated and may no longer be implemented in some clusters'];
  }
  if (kind === 'EndpointSlice' && text(object, 'addressType') === 'FQDN') {
    return ['spec.addressType: FQDN endpoints are deprecated'];
  }
  if (kind === 'Pod' && group === '') return podWarnings(object, '');
  if (kind === 'CronJob') {
    return podWarnings(at(object, 'spec', 'jobTemplate', 'spec', 'template'), 'spec.jobTemplate.spec.template.');
  }
  const template = group === 'apps' || group === 'batch' ? at(object, 'spec', 'template') : undefined;
  return template === undefined ? [] : podWarnings(template, 'spec.template.');
}

function podWarnings(pod: unknown, path: string): string[] {
  const annotations = stringMap(at(pod, 'metadata', 'annotations'));
  const selected = Object.keys(stringMap(at(pod, 'spec', 'nodeSelector')));
  const containers = ['containers', 'initContainers'].flatMap((field) =>
    objects(pod, 'spec', field).flatMap((container, index) =>
      hiddenVariables(container, `${path}spec.${field}[${index}].env`),
    ),
  );
  return [
    ...selected.flatMap((label) =>
      renamedLabels[label] === undefined ? [] : [`${path}spec.nodeSelector[${label}]: ${renamedLabels[label]}`],
    ),
    ...(annotations[criticalPod] === undefined
      ? []
      : [
          `${path}metadata.annotations[${criticalPod}]: non-functional in v1.16+; use the "priorityClassName" field instead`,
        ]),
    ...containers,
  ];
}

function hiddenVariables(container: ApiObject, path: string): string[] {
  const names = objects(container, 'env').map((variable) => text(variable, 'name'));
  return names.flatMap((name, index) =>
    names.indexOf(name) === index
      ? []
      : [`${path}[${index}]: hides previous definition of "${name}", which may be dropped when using apply`],
  );
}
