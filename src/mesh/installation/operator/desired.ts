// The IstioOperator that a cluster should have: the profile of its size, the wishes of the resource, and what its flavour
// needs, in this order.
import type { IstioSpec } from '../../../api/istio.ts';
import { istioTag } from '../../last-applied.ts';
import { defaultOperator } from './defaults.ts';
import { flavourOverrides } from './flavour.ts';
import type { ClusterFlavour, LoadBalancerFacts } from './flavour.ts';
import { mergeSpec } from './merge.ts';
import type { MergeOptions } from './merge.ts';
import { overlay } from './operator.ts';
import type { IstioOperator } from './operator.ts';
import type { ClusterSize } from './size.ts';

/** What is known of the cluster and chosen for this release. */
export interface InstallationFacts extends LoadBalancerFacts, MergeOptions {
  readonly size: ClusterSize;
  readonly flavour: ClusterFlavour;
  readonly hub: string;
  /** The version of Istio, such as `1.31.0`. */
  readonly version: string;
}

/** The operator to render. Throws a MergeError for a value that means nothing. */
export function desiredOperator(spec: IstioSpec, facts: InstallationFacts): IstioOperator {
  const { size, flavour, hub, version } = facts;
  const merged = mergeSpec(defaultOperator({ size, hub, tag: istioTag(version) }), spec, facts);
  return overlay(merged, flavourOverrides(flavour, facts));
}
