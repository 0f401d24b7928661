// Pods start pending, know their quality of service, and are given time to end.
import type { AnyObject } from '../../../kube/objects.ts';
import { items, part } from './types.ts';
import type { KindRules } from './types.ts';

const defaultGraceSeconds = 30;

/** Guaranteed when every container limits what it requests, BestEffort when none asks for anything. */
function qualityOfService(spec: Readonly<Record<string, unknown>>): string {
  const containers = [...items(spec, 'containers'), ...items(spec, 'initContainers')];
  let asked = false;
  let guaranteed = containers.length > 0;
  for (const container of containers) {
    const resources = part(container, 'resources');
    const requests = part(resources, 'requests');
    const limits = part(resources, 'limits');
    for (const name of ['cpu', 'memory']) {
      if (requests[name] !== undefined || limits[name] !== undefined) asked = true;
      if (limits[name] === undefined || (requests[name] ?? limits[name]) !== limits[name]) guaranteed = false;
    }
  }
  if (!asked) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

function withServiceAccount(object: AnyObject): AnyObject {
  const spec = part(object, 'spec');
  const name = spec['serviceAccountName'] ?? spec['serviceAccount'] ?? 'default';
  return { ...object, spec: { ...spec, serviceAccountName: name, serviceAccount: name } };
}

export const podRules: KindRules = {
  prepareCreate: (object) => ({
    ...withServiceAccount(object),
    status: { phase: 'Pending', qosClass: qualityOfService(part(object, 'spec')) },
  }),
  graceSeconds: (object, requested) => {
    const spec = part(object, 'spec');
    const phase = part(object, 'status')['phase'];
    // Nothing runs that would need time: not yet on a node, or already ended.
    if ((spec['nodeName'] ?? '') === '' || phase === 'Succeeded' || phase === 'Failed') return 0;
    const wished = requested ?? spec['terminationGracePeriodSeconds'];
    return typeof wished === 'number' ? wished : defaultGraceSeconds;
  },
  returnsDeleted: true,
};
