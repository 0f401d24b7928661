// The desired IstioOperator: the profile of the cluster size, the settings of the resource, and the overrides of the
// cluster flavour, in this order.
import type { IstioSpec } from '../../../api/istio.ts';
import { istioTag } from '../../custom-resource/last-applied.ts';
import { defaultOperator } from './defaults.ts';
import { flavourOverrides } from './flavour.ts';
import type { ClusterFlavour, LoadBalancerFacts } from './flavour.ts';
import { mergeSpec } from './merge.ts';
import type { MergeOptions } from './merge.ts';
import { overlay } from './operator.ts';
import type { IstioOperator } from './operator.ts';
import type { ClusterSize } from './size.ts';

/** The facts about the cluster, and the settings of this release. */
export interface InstallationFacts extends LoadBalancerFacts, MergeOptions {
  readonly size: ClusterSize;
  readonly flavour: ClusterFlavour;
  readonly hub: string;
  /** The version of Istio, such as `1.31.0`. */
  readonly version: string;
}

/** The operator to render. Throws a MergeError for an invalid value. */
export function desiredOperator(spec: IstioSpec, facts: InstallationFacts): IstioOperator {
  const { size, flavour, hub, version } = facts;
  const merged = mergeSpec(defaultOperator({ size, hub, tag: istioTag(version) }), spec, facts);
  return overlay(merged, flavourOverrides(flavour, facts));
}
