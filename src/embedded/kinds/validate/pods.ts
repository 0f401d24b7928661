// Validates pods and pod templates.
import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../resource.ts';
import { type FieldError, forbidden, invalid, required } from '../../schema/field-error.ts';
import { at, isObject, numberAt, objects, text } from '../read.ts';
import { choice, labelErrors, nameErrors, DuplicateCheck } from './common.ts';
import { containerErrors, probeErrors } from './containers.ts';
import { annotationErrors } from './meta.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from './names.ts';
import { schedulingErrors } from './scheduling.ts';

const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];

function podSpecErrors(spec: unknown, path: string, extraVolumes: readonly string[] = []): FieldError[] {
  const errors: FieldError[] = [];
  const volumes = new Set([...volumeNames(spec, path, errors), ...extraVolumes]);
  const names = new DuplicateCheck();
  const containers = objects(spec, 'containers');
  if (containers.length === 0) errors.push(required(`${path}.containers`));
  for (const [index, container] of containers.entries()) {
    const itemPath = `${path}.containers[${index}]`;
    errors.push(...containerErrors(container, itemPath, volumes));
    errors.push(...names.check(text(container, 'name'), `${itemPath}.name`), ...probeErrors(container, itemPath));
  }
  for (const [index, container] of objects(spec, 'initContainers').entries()) {
    const itemPath = `${path}.initContainers[${index}]`;
    errors.push(
      ...containerErrors(container, itemPath, volumes),
      ...names.check(text(container, 'name'), `${itemPath}.name`),
    );
    if (container['restartPolicy'] === 'Always') errors.push(...probeErrors(container, itemPath));
    else errors.push(...plainInitErrors(container, itemPath));
  }
  errors.push(...choice(text(spec, 'restartPolicy'), ['Always', 'OnFailure', 'Never'], `${path}.restartPolicy`));
  errors.push(...choice(text(spec, 'dnsPolicy'), dnsPolicies, `${path}.dnsPolicy`));
  errors.push(...labelErrors(at(spec, 'nodeSelector'), `${path}.nodeSelector`), ...schedulingErrors(spec, path));
  for (const [field, check] of nameFields) {
    const value = text(spec, field);
    if (value !== '') errors.push(...nameErrors(check, value, `${path}.${field}`));
  }
  const deadline = numberAt(spec, 'activeDeadlineSeconds');
  if (deadline !== undefined && (deadline < 1 || deadline > 2_147_483_647)) {
    errors.push(invalid(`${path}.activeDeadlineSeconds`, deadline, 'must be between 1 and 2147483647, inclusive'));
  }
  return errors;
}

const nameFields = [
  ['serviceAccountName', dns1123SubdomainProblems],
  ['nodeName', dns1123SubdomainProblems],
  ['hostname', dns1123LabelProblems],
  ['subdomain', dns1123LabelProblems],
  ['priorityClassName', dns1123SubdomainProblems],
  ['runtimeClassName', dns1123SubdomainProblems],
] as const;

function plainInitErrors(container: ApiObject, path: string): FieldError[] {
  return ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']
    .filter((field) => container[field] !== undefined)
    .map((field) => forbidden(`${path}.${field}`, 'may not be set for init containers without restartPolicy=Always'));
}

/** The names of the valid volumes; the errors of the others are added to `errors`. */
function volumeNames(spec: unknown, path: string, errors: FieldError[]): string[] {
  const duplicates = new DuplicateCheck();
  const names: string[] = [];
  for (const [index, volume] of objects(spec, 'volumes').entries()) {
    const itemPath = `${path}.volumes[${index}]`;
    const name = text(volume, 'name');
    const problems = volumeSourceErrors(volume, itemPath);
    if (name === '') problems.push(required(`${itemPath}.name`));
    else problems.push(...nameErrors(dns1123LabelProblems, name, `${itemPath}.name`));
    problems.push(...duplicates.check(name, `${itemPath}.name`));
    if (problems.length === 0) names.push(name);
    errors.push(...problems);
  }
  return names;
}

function volumeSourceErrors(volume: ApiObject, path: string): FieldError[] {
  const sources = Object.keys(volume).filter((key) => key !== 'name' && isObject(volume[key]));
  const errors = sources.slice(1).map((key) => forbidden(`${path}.${key}`, 'may not specify more than 1 volume type'));
  const [source] = sources;
  if (source === 'configMap' && text(volume, 'configMap', 'name') === '')
    errors.push(required(`${path}.configMap.name`));
  if (source === 'secret' && text(volume, 'secret', 'secretName') === '')
    errors.push(required(`${path}.secret.secretName`));
  if (source === 'hostPath' && text(volume, 'hostPath', 'path') === '') errors.push(required(`${path}.hostPath.path`));
  if (source === 'persistentVolumeClaim' && text(volume, source, 'claimName') === '') {
    errors.push(required(`${path}.persistentVolumeClaim.claimName`));
  }
  return errors;
}

export function templateErrors(template: unknown, path: string, extraVolumes: readonly string[] = []): FieldError[] {
  return [
    ...labelErrors(at(template, 'metadata', 'labels'), `${path}.labels`),
    ...annotationErrors(at(template, 'metadata', 'annotations'), `${path}.annotations`),
    ...podSpecErrors(at(template, 'spec'), `${path}.spec`, extraVolumes),
  ];
}

export function podErrors(pod: ApiObject, old: ApiObject | undefined): FieldError[] {
  const errors = podSpecErrors(pod['spec'], 'spec');
  return old === undefined ? errors : [...errors, ...podChangeErrors(pod, old)];
}

const changeable =
  '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** Only a few fields of a pod's spec may change. */
function podChangeErrors(pod: ApiObject, old: ApiObject): FieldError[] {
  for (const list of ['containers', 'initContainers']) {
    if (objects(pod, 'spec', list).length !== objects(old, 'spec', list).length) {
      return [forbidden(`spec.${list}`, 'pod updates may not add or remove containers')];
    }
  }
  if (isDeepStrictEqual(immutableFields(pod['spec']), immutableFields(old['spec']))) return [];
  return [forbidden('spec', `pod updates may not change fields other than ${changeable}`)];
}

function immutableFields(spec: unknown): unknown {
  if (!isObject(spec)) return spec;
  const { activeDeadlineSeconds: _deadline, tolerations: _tolerations, schedulingGates: _gates, ...rest } = spec;
  const withoutImages = (list: unknown): unknown =>
    Array.isArray(list) ? list.map((item: unknown) => (isObject(item) ? { ...item, image: '' } : item)) : list;
  return {
    ...rest,
    containers: withoutImages(spec['containers']),
    initContainers: withoutImages(spec['initContainers']),
  };
}
