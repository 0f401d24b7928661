// The columns of pods, nodes and volumes, as `kubectl get` prints them.
import type { ApiObject, PrinterColumn } from '../../resource.ts';
import { at, condition, conditionIsTrue, count, isObject, objects, scalarText, strings, text } from '../read.ts';
import { ageColumn, column, nameColumn, since, wide } from './text.ts';

interface PodSummary {
  readonly ready: number;
  readonly total: number;
  readonly reason: string;
  readonly restarts: number;
  /** When a container last terminated before a restart. */
  readonly lastRestart: string;
}

class Restarts {
  count = 0;
  last = '';
  add(status: ApiObject): void {
    this.count += count(status, 'restartCount');
    const finished = text(status, 'lastState', 'terminated', 'finishedAt');
    if (finished > this.last) this.last = finished;
  }
}

function terminatedReason(terminated: unknown): string {
  const signal = count(terminated, 'signal');
  return (
    text(terminated, 'reason') || (signal === 0 ? `ExitCode:${count(terminated, 'exitCode')}` : `Signal:${signal}`)
  );
}

interface InitSummary {
  /** Set while an init container has not finished. */
  readonly reason?: string;
  readonly ready: number;
  readonly all: Restarts;
  readonly sidecars: Restarts;
}

function summariseInit(pod: ApiObject, sidecarNames: ReadonlySet<string>): InitSummary {
  const all = new Restarts();
  const sidecars = new Restarts();
  const total = objects(pod, 'spec', 'initContainers').length;
  let ready = 0;
  for (const [index, status] of objects(pod, 'status', 'initContainerStatuses').entries()) {
    const isSidecar = sidecarNames.has(text(status, 'name'));
    all.add(status);
    if (isSidecar) sidecars.add(status);
    const terminated = at(status, 'state', 'terminated');
    if (isObject(terminated) && count(terminated, 'exitCode') === 0) continue;
    if (isSidecar && status['started'] === true) {
      if (status['ready'] === true) ready += 1;
      continue;
    }
    if (isObject(terminated)) return { reason: `Init:${terminatedReason(terminated)}`, ready, all, sidecars };
    const waiting = text(status, 'state', 'waiting', 'reason');
    const reason = waiting !== '' && waiting !== 'PodInitializing' ? waiting : `${index}/${total}`;
    return { reason: `Init:${reason}`, ready, all, sidecars };
  }
  return { ready, all, sidecars };
}

function summarise(pod: ApiObject): PodSummary {
  const sidecarNames = new Set(
    objects(pod, 'spec', 'initContainers')
      .filter((container) => container['restartPolicy'] === 'Always')
      .map((container) => text(container, 'name')),
  );
  const total = objects(pod, 'spec', 'containers').length + sidecarNames.size;
  const phase = text(pod, 'status', 'phase');
  let reason = text(pod, 'status', 'reason') || phase;
  if (condition(pod, 'PodScheduled')?.['reason'] === 'SchedulingGated') reason = 'SchedulingGated';

  const init = summariseInit(pod, sidecarNames);
  let { ready } = init;
  let restarts = init.all;
  if (init.reason !== undefined) reason = init.reason;
  if (init.reason === undefined || conditionIsTrue(pod, 'Initialized')) {
    restarts = init.sidecars;
    let running = false;
    let failure = '';
    for (const status of objects(pod, 'status', 'containerStatuses').toReversed()) {
      restarts.add(status);
      const waiting = text(status, 'state', 'waiting', 'reason');
      const terminated = at(status, 'state', 'terminated');
      if (waiting !== '') reason = waiting;
      else if (isObject(terminated)) {
        reason = terminatedReason(terminated);
        if (count(terminated, 'exitCode') !== 0) failure = reason;
      } else if (status['ready'] === true && isObject(at(status, 'state', 'running'))) {
        running = true;
        ready += 1;
      }
    }
    if (reason === 'Completed') {
      if (running && conditionIsTrue(pod, 'Ready')) reason = 'Running';
      else if (failure !== '') reason = failure;
      else if (running) reason = 'NotReady';
    }
  }
  if (text(pod, 'metadata', 'deletionTimestamp') !== '') {
    if (text(pod, 'status', 'reason') === 'NodeLost') reason = 'Unknown';
    else if (phase !== 'Succeeded' && phase !== 'Failed') reason = 'Terminating';
  }
  return { ready, total, reason, restarts: restarts.count, lastRestart: restarts.last };
}

function restartsText(pod: ApiObject, now: number): string {
  const { restarts, lastRestart } = summarise(pod);
  return restarts === 0 || lastRestart === '' ? String(restarts) : `${restarts} (${since(lastRestart, now)} ago)`;
}

function readinessGates(pod: ApiObject): string {
  const gates = objects(pod, 'spec', 'readinessGates').map((gate) => text(gate, 'conditionType'));
  if (gates.length === 0) return '<none>';
  return `${gates.filter((gate) => conditionIsTrue(pod, gate)).length}/${gates.length}`;
}

export const podColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Ready', 'string', (pod) => {
    const { ready, total } = summarise(pod);
    return `${ready}/${total}`;
  }),
  column('Status', 'string', (pod) => summarise(pod).reason),
  column('Restarts', 'string', restartsText),
  ageColumn,
  wide('IP', (pod) => text(objects(pod, 'status', 'podIPs')[0], 'ip') || '<none>'),
  wide('Node', (pod) => text(pod, 'spec', 'nodeName') || '<none>'),
  wide('Nominated Node', (pod) => text(pod, 'status', 'nominatedNodeName') || '<none>'),
  wide('Readiness Gates', readinessGates),
];

function nodeStatus(node: ApiObject): string {
  const ready = condition(node, 'Ready');
  const words = [ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady'];
  if (at(node, 'spec', 'unschedulable') === true) words.push('SchedulingDisabled');
  return words.join(',');
}

function nodeRoles(node: ApiObject): string {
  const prefix = 'node-role.kubernetes.io/';
  const roles = new Set<string>();
  const labels = at(node, 'metadata', 'labels');
  for (const [key, value] of isObject(labels) ? Object.entries(labels) : []) {
    if (key.startsWith(prefix) && key !== prefix) roles.add(key.slice(prefix.length));
    else if (key === 'kubernetes.io/role' && typeof value === 'string' && value !== '') roles.add(value);
  }
  return [...roles].sort().join(',') || '<none>';
}

function nodeAddress(node: ApiObject, type: string): string {
  const address = objects(node, 'status', 'addresses').find((item) => item['type'] === type);
  return text(address, 'address') || '<none>';
}

function nodeInfo(node: ApiObject, field: string): string {
  return text(node, 'status', 'nodeInfo', field) || '<unknown>';
}

export const nodeColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Status', 'string', nodeStatus),
  column('Roles', 'string', nodeRoles),
  ageColumn,
  column('Version', 'string', (node) => text(node, 'status', 'nodeInfo', 'kubeletVersion')),
  wide('Internal-IP', (node) => nodeAddress(node, 'InternalIP')),
  wide('External-IP', (node) => nodeAddress(node, 'ExternalIP')),
  wide('OS-Image', (node) => nodeInfo(node, 'osImage')),
  wide('Kernel-Version', (node) => {
    const architecture = text(node, 'status', 'nodeInfo', 'architecture');
    return nodeInfo(node, 'kernelVersion') + (architecture === '' ? '' : ` (${architecture})`);
  }),
  wide('Container-Runtime', (node) => nodeInfo(node, 'containerRuntimeVersion')),
];

const modeLetters: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

function accessModes(modes: readonly string[]): string {
  return modeLetters
    .filter(([mode]) => modes.includes(mode))
    .map(([, letters]) => letters)
    .join(',');
}

function phaseOrTerminating(object: ApiObject): string {
  return text(object, 'metadata', 'deletionTimestamp') === '' ? text(object, 'status', 'phase') : 'Terminating';
}

function storage(object: ApiObject, ...path: readonly string[]): string {
  return scalarText(object, ...path, 'storage') ?? '0';
}

function storageClass(object: ApiObject): string {
  return (
    text(object, 'metadata', 'annotations', 'volume.beta.kubernetes.io/storage-class') ||
    text(object, 'spec', 'storageClassName')
  );
}

const volumeMode = wide('VolumeMode', (object) => text(object, 'spec', 'volumeMode') || '<unset>');
const attributesClass = column(
  'VolumeAttributesClass',
  'string',
  (object) => text(object, 'spec', 'volumeAttributesClassName') || '<unset>',
);

export const volumeColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Capacity', 'string', (volume) => storage(volume, 'spec', 'capacity')),
  column('Access Modes', 'string', (volume) => accessModes(strings(volume, 'spec', 'accessModes'))),
  column('Reclaim Policy', 'string', (volume) => text(volume, 'spec', 'persistentVolumeReclaimPolicy')),
  column('Status', 'string', phaseOrTerminating),
  column('Claim', 'string', (volume) => {
    const claim = at(volume, 'spec', 'claimRef');
    return isObject(claim) ? `${text(claim, 'namespace')}/${text(claim, 'name')}` : '';
  }),
  column('StorageClass', 'string', storageClass),
  attributesClass,
  column('Reason', 'string', (volume) => text(volume, 'status', 'reason')),
  ageColumn,
  volumeMode,
];

export const claimColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Status', 'string', phaseOrTerminating),
  column('Volume', 'string', (claim) => text(claim, 'spec', 'volumeName')),
  column('Capacity', 'string', (claim) =>
    text(claim, 'spec', 'volumeName') === '' ? '' : storage(claim, 'status', 'capacity'),
  ),
  column('Access Modes', 'string', (claim) =>
    text(claim, 'spec', 'volumeName') === '' ? '' : accessModes(strings(claim, 'status', 'accessModes')),
  ),
  column('StorageClass', 'string', storageClass),
  attributesClass,
  ageColumn,
  volumeMode,
];
