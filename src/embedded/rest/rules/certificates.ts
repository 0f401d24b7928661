// Certificate signing requests: the server records the requester, the spec is immutable, and only the `approval`
// subresource may approve or deny.
import { timestamp } from '../../../kube/times.ts';
import type { AnyObject, JsonObject } from '../../../kube/objects.ts';
import { forbidden } from '../../schema/field-error.ts';
import type { Target } from '../context.ts';
import { invalid } from '../fault.ts';
import { items, part } from './types.ts';
import type { KindRules } from './types.ts';

const decisions = new Set(['Approved', 'Denied']);

function isDecision(condition: JsonObject): boolean {
  return decisions.has(condition['type'] as string);
}

/** Sets the times of conditions; a condition that existed keeps its transition time. */
function withTimes(conditions: readonly JsonObject[], before: readonly JsonObject[]): JsonObject[] {
  const now = timestamp(Date.now());
  return conditions.map((condition) => {
    const same = before.find((each) => each['type'] === condition['type'] && each['status'] === condition['status']);
    return { lastUpdateTime: now, lastTransitionTime: same?.['lastTransitionTime'] ?? now, ...condition };
  });
}

/** The status after an update of the `status` subresource, which cannot change the decision. */
function statusAfter(next: AnyObject, old: AnyObject, { resource, name }: Target): JsonObject {
  const status = part(next, 'status');
  const [given, present] = [items(status, 'conditions'), items(part(old, 'status'), 'conditions')];
  const added = given.find((one) => isDecision(one) && !present.some(({ type }) => type === one['type']));
  if (added !== undefined) {
    const why = `updates may not add a condition of type ${JSON.stringify(added['type'])}`;
    throw invalid(resource, name, [forbidden('status.conditions', why)]);
  }
  const kept = given.map((one) => (isDecision(one) ? present.find(({ type }) => type === one['type'])! : one));
  return { ...status, ...(kept.length > 0 && { conditions: withTimes(kept, present) }) };
}

function statusOf(next: AnyObject, old: AnyObject, target: Target): unknown {
  if (target.subresource === '') return old['status'];
  if (target.subresource === 'status') return statusAfter(next, old, target);
  const before = part(old, 'status');
  const conditions = items(part(next, 'status'), 'conditions');
  return { ...before, conditions: withTimes(conditions, items(before, 'conditions')) };
}

export const certificateRules: KindRules = {
  prepareCreate: (object, _cluster, _target, user) => {
    const { username: _username, uid: _uid, groups: _groups, extra: _extra, ...spec } = part(object, 'spec');
    const { username, uid, groups, extra } = user;
    const requester = { username, ...(uid !== undefined && { uid }), groups, ...(extra !== undefined && { extra }) };
    return { ...object, spec: { ...spec, ...requester }, status: {} };
  },
  prepareUpdate: (next, old, _cluster, target) => ({
    ...next,
    spec: old['spec'],
    status: statusOf(next, old, target),
  }),
  unowned: ['spec'],
};
