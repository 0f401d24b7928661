// Validates containers: names, images, ports, environment, probes, mounts, resources.
import type { ApiObject } from '../../resource.ts';
import { type FieldError, forbidden, invalid, notFound, required } from '../../schema/field-error.ts';
import { compareQuantities, parseQuantity } from '../../../kube/quantity.ts';
import { at, isObject, numberAt, objects, stringMap, strings, text } from '../read.ts';
import { choice, nameErrors, nonNegative, DuplicateCheck, portErrors, portOrNameErrors, sorted } from './common.ts';
import { configKeyProblems, dns1123LabelProblems, portNameProblems, qualifiedNameProblems } from './names.ts';

const protocols = ['SCTP', 'TCP', 'UDP'];

/** Validation that applies to containers and init containers. */
export function containerErrors(container: ApiObject, path: string, volumes: ReadonlySet<string>): FieldError[] {
  const name = text(container, 'name');
  return [
    ...(name === '' ? [required(`${path}.name`)] : nameErrors(dns1123LabelProblems, name, `${path}.name`)),
    ...imageErrors(text(container, 'image'), `${path}.image`),
    ...choice(
      text(container, 'terminationMessagePolicy'),
      ['File', 'FallbackToLogsOnError'],
      `${path}.terminationMessagePolicy`,
    ),
    ...portListErrors(container, `${path}.ports`),
    ...environmentErrors(container, `${path}.env`),
    ...mountErrors(container, `${path}.volumeMounts`, volumes),
    ...choice(text(container, 'imagePullPolicy'), ['Always', 'IfNotPresent', 'Never'], `${path}.imagePullPolicy`),
    ...resourceErrors(at(container, 'resources'), `${path}.resources`),
  ];
}

function imageErrors(image: string, path: string): FieldError[] {
  if (image === '') return [required(path)];
  return image.trim() === image ? [] : [invalid(path, image, 'must not have leading or trailing whitespace')];
}

function portListErrors(container: ApiObject, path: string): FieldError[] {
  const names = new DuplicateCheck();
  return objects(container, 'ports').flatMap((port, index) => {
    const itemPath = `${path}[${index}]`;
    const errors: FieldError[] = [];
    const name = text(port, 'name');
    if (name !== '') {
      const problems = nameErrors(portNameProblems, name, `${itemPath}.name`);
      errors.push(...(problems.length > 0 ? problems : names.check(name, `${itemPath}.name`)));
    }
    const number = numberAt(port, 'containerPort') ?? 0;
    errors.push(
      ...(number === 0 ? [required(`${itemPath}.containerPort`)] : portErrors(number, `${itemPath}.containerPort`)),
    );
    const hostPort = numberAt(port, 'hostPort') ?? 0;
    if (hostPort !== 0) errors.push(...portErrors(hostPort, `${itemPath}.hostPort`));
    errors.push(...choice(text(port, 'protocol'), protocols, `${itemPath}.protocol`));
    return errors;
  });
}

const valueSources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];

function environmentErrors(container: ApiObject, path: string): FieldError[] {
  return objects(container, 'env').flatMap((variable, index) => {
    const itemPath = `${path}[${index}]`;
    const name = text(variable, 'name');
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(`${itemPath}.name`));
    else if (!/^[\x20-\x3c\x3e-\x7e]+$/.test(name)) {
      const why = "a valid environment variable name must consist only of printable ASCII characters other than '='";
      errors.push(invalid(`${itemPath}.name`, name, why));
    }
    if (isObject(variable['valueFrom']))
      errors.push(...sourceErrors(variable, variable['valueFrom'], `${itemPath}.valueFrom`));
    return errors;
  });
}

function sourceErrors(variable: ApiObject, source: ApiObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const given = valueSources.filter((field) => isObject(source[field]));
  for (const field of ['configMapKeyRef', 'secretKeyRef']) {
    if (!isObject(source[field])) continue;
    const key = text(source, field, 'key');
    if (key === '') errors.push(required(`${path}.${field}.key`));
    else errors.push(...nameErrors(configKeyProblems, key, `${path}.${field}.key`));
  }
  if (isObject(source['fieldRef']) && text(source, 'fieldRef', 'fieldPath') === '') {
    errors.push(required(`${path}.fieldRef.fieldPath`));
  }
  if (given.length === 0) {
    const why =
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    errors.push(invalid(path, '', why));
  } else if (text(variable, 'value') !== '') {
    errors.push(invalid(path, '', 'may not be specified when `value` is not empty'));
  } else if (given.length > 1) {
    errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
  }
  return errors;
}

function mountErrors(container: ApiObject, path: string, volumes: ReadonlySet<string>): FieldError[] {
  const mountPaths = new Set<string>();
  return objects(container, 'volumeMounts').flatMap((mount, index) => {
    const itemPath = `${path}[${index}]`;
    const name = text(mount, 'name');
    const mountPath = text(mount, 'mountPath');
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(`${itemPath}.name`));
    if (!volumes.has(name)) errors.push(notFound(`${itemPath}.name`, name));
    if (mountPath === '') errors.push(required(`${itemPath}.mountPath`));
    if (mountPaths.has(mountPath)) errors.push(invalid(`${itemPath}.mountPath`, mountPath, 'must be unique'));
    mountPaths.add(mountPath);
    return errors;
  });
}

/** Requests and limits need known names and no negative amounts; requests must not exceed limits. */
function resourceErrors(resources: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const limits = stringMap(resources, 'limits');
  const requests = stringMap(resources, 'requests');
  for (const [name, amount] of Object.entries(sorted(limits)))
    errors.push(...amountErrors(name, amount, `${path}.limits[${name}]`));
  for (const [name, amount] of Object.entries(sorted(requests))) {
    errors.push(...amountErrors(name, amount, `${path}.requests[${name}]`));
    const request = parseQuantity(amount);
    const limit = parseQuantity(limits[name] ?? '');
    if (request === undefined || limit === undefined) continue;
    const order = compareQuantities(request, limit);
    // Extended resources and huge pages cannot be overcommitted: the request must equal the limit.
    const notOvercommittable = name.includes('/') || name.startsWith('hugepages-');
    if (order !== 0 && notOvercommittable) {
      errors.push(invalid(`${path}.requests`, amount, `must be equal to ${name} limit of ${limits[name]}`));
    } else if (order > 0) {
      errors.push(
        invalid(`${path}.requests`, amount, `must be less than or equal to ${name} limit of ${limits[name]}`),
      );
    }
  }
  return errors;
}

const standardResources = new Set(['cpu', 'memory', 'ephemeral-storage']);

function amountErrors(name: string, amount: string, path: string): FieldError[] {
  const errors = nameErrors(qualifiedNameProblems, name, path);
  if (errors.length === 0 && !name.includes('/') && !standardResources.has(name) && !name.startsWith('hugepages-')) {
    errors.push(invalid(path, name, 'must be a standard resource type or fully qualified'));
    errors.push(invalid(path, name, 'must be a standard resource for containers'));
  }
  const quantity = parseQuantity(amount);
  if (quantity !== undefined && quantity.nano < 0n)
    errors.push(invalid(path, amount, 'must be greater than or equal to 0'));
  return errors;
}

const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'];

/** A probe or a hook must have exactly one handler. */
function handlerErrors(handler: ApiObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const given = handlers.filter((field) => isObject(handler[field]));
  const [first] = given;
  if (first === undefined) errors.push(required(path, 'must specify a handler type'));
  if (first === 'exec' && strings(handler, 'exec', 'command').length === 0) {
    errors.push(required(`${path}.exec.command`));
  }
  if (first === 'httpGet') {
    if (text(handler, 'httpGet', 'path') === '') errors.push(required(`${path}.httpGet.path`));
    errors.push(...portOrNameErrors(at(handler, 'httpGet', 'port'), `${path}.httpGet.port`));
    errors.push(...choice(text(handler, 'httpGet', 'scheme'), ['HTTP', 'HTTPS'], `${path}.httpGet.scheme`));
  }
  if (first === 'tcpSocket')
    errors.push(...portOrNameErrors(at(handler, 'tcpSocket', 'port'), `${path}.tcpSocket.port`));
  for (const field of given.slice(1))
    errors.push(forbidden(`${path}.${field}`, 'may not specify more than 1 handler type'));
  return errors;
}

const probeNumbers = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];

export function probeErrors(container: ApiObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = container[name];
    if (!isObject(probe)) continue;
    const itemPath = `${path}.${name}`;
    errors.push(...handlerErrors(probe, itemPath));
    for (const field of probeNumbers) errors.push(...nonNegative(probe, field, itemPath));
    const threshold = numberAt(probe, 'successThreshold') ?? 1;
    if (name !== 'readinessProbe' && threshold !== 1)
      errors.push(invalid(`${itemPath}.successThreshold`, threshold, 'must be 1'));
  }
  for (const hook of ['postStart', 'preStop']) {
    const handler = at(container, 'lifecycle', hook);
    if (isObject(handler)) errors.push(...handlerErrors(handler, `${path}.lifecycle.${hook}`));
  }
  return errors;
}
