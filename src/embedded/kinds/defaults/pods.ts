// The defaults of pods and pod templates.
import type { ApiObject } from '../../resource.ts';
import { at, isObject, objects, text } from '../read.ts';
import { fill, inField, inItems, intoField } from './fill.ts';

/** The tag of an image reference; `latest` without a tag and a digest. */
function imageTag(image: string): string {
  const [name = '', digest] = image.split('@');
  const tag = /:([^/:]+)$/.exec(name)?.[1];
  return tag ?? (digest === undefined ? 'latest' : '');
}

function pullPolicy(image: string): string {
  return imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent';
}

function httpGet(handler: ApiObject): ApiObject {
  return inField(handler, 'httpGet', (action) => fill(action, { path: '/', scheme: 'HTTP' }));
}

function probe(value: ApiObject): ApiObject {
  const timed = fill(value, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
  return inField(httpGet(timed), 'grpc', (action) => fill(action, { service: '' }));
}

function environment(variable: ApiObject): ApiObject {
  return inField(variable, 'valueFrom', (source) => {
    const withVersion = inField(source, 'fieldRef', (reference) => fill(reference, { apiVersion: 'v1' }));
    const withDivisor = inField(withVersion, 'resourceFieldRef', (reference) => fill(reference, { divisor: '0' }));
    return inField(withDivisor, 'fileKeyRef', (reference) => fill(reference, { optional: false }));
  });
}

function container(value: ApiObject): ApiObject {
  let result = fill(value, {
    imagePullPolicy: pullPolicy(text(value, 'image')),
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
  result = inItems(result, 'ports', (port) => fill(port, { protocol: 'TCP' }));
  result = inItems(result, 'env', environment);
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) result = inField(result, name, probe);
  return inField(result, 'lifecycle', (hooks) => inField(inField(hooks, 'postStart', httpGet), 'preStop', httpGet));
}

const volumeModes = ['configMap', 'secret', 'downwardAPI', 'projected'];

function downwardItem(item: ApiObject): ApiObject {
  const withVersion = inField(item, 'fieldRef', (reference) => fill(reference, { apiVersion: 'v1' }));
  return inField(withVersion, 'resourceFieldRef', (reference) => fill(reference, { divisor: '0' }));
}

function volume(value: ApiObject): ApiObject {
  let result = Object.keys(value).every((key) => key === 'name') ? { ...value, emptyDir: {} } : value;
  for (const source of volumeModes) result = inField(result, source, (details) => fill(details, { defaultMode: 420 }));
  result = inField(result, 'downwardAPI', (source) => inItems(source, 'items', downwardItem));
  result = inField(result, 'projected', (source) =>
    inItems(source, 'sources', (projection) =>
      inField(
        inField(projection, 'serviceAccountToken', (token) => fill(token, { expirationSeconds: 3600 })),
        'downwardAPI',
        (downward) => inItems(downward, 'items', downwardItem),
      ),
    ),
  );
  result = inField(result, 'hostPath', (source) => fill(source, { type: '' }));
  result = inField(result, 'image', (source) => fill(source, { pullPolicy: pullPolicy(text(source, 'reference')) }));
  return inField(result, 'ephemeral', (source) =>
    inField(source, 'volumeClaimTemplate', (template) =>
      inField(template, 'spec', (spec) => fill(spec, { volumeMode: 'Filesystem' })),
    ),
  );
}

function podSpec(spec: ApiObject): ApiObject {
  let result = fill(spec, {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  });
  const grace = result['terminationGracePeriodSeconds'];
  if (typeof grace === 'number' && grace < 0) result = { ...result, terminationGracePeriodSeconds: 1 };
  for (const list of ['initContainers', 'containers', 'ephemeralContainers']) result = inItems(result, list, container);
  result = inItems(result, 'volumes', volume);
  const account = text(result, 'serviceAccountName') || text(result, 'serviceAccount');
  // The deprecated field `serviceAccount` is set as well.
  return account === '' ? result : { ...result, serviceAccountName: account, serviceAccount: account };
}

/** Sets the defaults of the pod template in a field of a spec. */
export function inTemplate(spec: ApiObject, field = 'template'): ApiObject {
  return inField(spec, field, (template) =>
    intoField(
      intoField(template, 'metadata', (metadata) => metadata),
      'spec',
      podSpec,
    ),
  );
}

/** Requests default to the limits. */
function requestsFromLimits(value: ApiObject): ApiObject {
  const limits = at(value, 'resources', 'limits');
  if (!isObject(limits)) return value;
  return inField(value, 'resources', (resources) =>
    intoField(resources, 'requests', (requests) => fill(requests, limits)),
  );
}

function hostPorts(value: ApiObject): ApiObject {
  return inItems(value, 'ports', (port) => fill(port, { hostPort: port['containerPort'] }));
}

/** Sets the defaults of a pod, which has more defaults than a pod template. */
export function pod(object: ApiObject): ApiObject {
  return intoField(object, 'spec', (given) => {
    let spec = fill(podSpec(given), { enableServiceLinks: true });
    for (const list of ['initContainers', 'containers']) {
      spec = inItems(spec, list, requestsFromLimits);
      if (spec['hostNetwork'] === true) spec = inItems(spec, list, hostPorts);
    }
    return spec;
  });
}

function toleration(key: string): ApiObject {
  return { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 };
}

/** What the default admission plugins add to a new pod. */
export function admittedPod(object: ApiObject): ApiObject {
  return intoField(object, 'spec', (given) => {
    const account = text(given, 'serviceAccountName') || 'default';
    const spec = fill(
      { ...given, serviceAccountName: account, serviceAccount: account },
      { priority: 0, preemptionPolicy: 'PreemptLowerPriority' },
    );
    const present = objects(spec, 'tolerations');
    const missing = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].filter(
      (key) =>
        !present.some(
          (item) =>
            (item['key'] === key || (item['key'] ?? '') === '') && ['NoExecute', ''].includes(text(item, 'effect')),
        ),
    );
    return missing.length === 0 ? spec : { ...spec, tolerations: [...present, ...missing.map(toleration)] };
  });
}

/** Guaranteed, Burstable or BestEffort, by the requests and limits of the containers. */
export function qosClass(object: ApiObject): string {
  const containers = [...objects(object, 'spec', 'containers'), ...objects(object, 'spec', 'initContainers')];
  const amounts = (value: ApiObject, kind: string): Record<string, unknown> => {
    const found = at(value, 'resources', kind);
    return Object.fromEntries(
      Object.entries(isObject(found) ? found : {}).filter(
        ([name, amount]) => (name === 'cpu' || name === 'memory') && amount !== '0',
      ),
    );
  };
  const asks = containers.map((value) => ({ requests: amounts(value, 'requests'), limits: amounts(value, 'limits') }));
  if (asks.every(({ requests, limits }) => Object.keys(requests).length + Object.keys(limits).length === 0))
    return 'BestEffort';
  const guaranteed = asks.every(({ requests, limits }) =>
    ['cpu', 'memory'].every((name) => limits[name] !== undefined && requests[name] === limits[name]),
  );
  return guaranteed ? 'Guaranteed' : 'Burstable';
}
