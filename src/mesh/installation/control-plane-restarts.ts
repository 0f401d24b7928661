// Restarts of the control plane itself: when NetworkPolicies come or go, istiod and the CNI node agent open their
// connections anew. Gateways are restarted with the other workloads, batch after batch.
import { createHash } from 'node:crypto';
import type { Istio } from '../../api/istio.ts';
import type { View } from '../../controller/index.ts';
import { defineKind, edit } from '../../kube/index.ts';
import type { AnyObject, Kind, Step } from '../../kube/index.ts';
import type { LastApplied } from '../last-applied.ts';
import { ISTIO_NAMESPACE } from '../names.ts';
import { marked, markOf } from '../restarts/mark.ts';
import { installed } from './kinds.ts';

const WORKLOADS: readonly (readonly [Kind, string])[] = [
  [defineKind('apps/v1', 'Deployment', 'deployments'), 'istiod'],
  [defineKind('apps/v1', 'DaemonSet', 'daemonsets'), 'istio-cni-node'],
];

/** The restarts that a change of `networkPoliciesEnabled` asks for, once each. A first installation needs none. */
export function controlPlaneRestarts(view: View, { spec = {} }: Istio, before: LastApplied): readonly Step[] {
  const { networkPoliciesEnabled = false } = spec;
  if (before.tag === undefined || networkPoliciesEnabled === (before.spec.networkPoliciesEnabled ?? false)) return [];
  const hash = createHash('sha256').update(`network policies ${networkPoliciesEnabled}`).digest('hex').slice(0, 16);
  return WORKLOADS.flatMap(([kind, name]) => {
    const live = view.get(installed(kind), { namespace: ISTIO_NAMESPACE, name });
    if (live === undefined || markOf(live)?.for === hash) return [];
    return [edit(kind, live, marked(live, hash, view.now()) as AnyObject)];
  });
}
