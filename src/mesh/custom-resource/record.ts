// Records the applied configuration on the resource: the version as soon as it runs, every other part of the spec as
// soon as it is in effect. The version gate and the restarts compare with it later.
import { Istio } from '../../api/istio.ts';
import type { View } from '../../controller/index.ts';
import { annotate } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import type { Failure } from '../status/failures.ts';
import type { Installable } from '../installation/target.ts';
import { withApplied, writeLastApplied } from './last-applied.ts';
import { LAST_APPLIED } from '../names.ts';
import type { RestartProgress } from '../restarts/index.ts';
import { IstioPod } from '../tables.ts';

/** Records what is in effect once the installation is done; no steps if that is already recorded. */
export function recordApplied(
  view: View,
  istio: Istio,
  { before, tag }: Installable,
  { gatewaysDone, sidecarsDone }: RestartProgress,
  failures: readonly Failure[],
): readonly Step[] {
  const { spec = {} } = istio;
  let applied = before.spec;
  if (gatewaysDone) applied = withApplied({ spec: applied }, spec, 'gateway');
  if (sidecarsDone) applied = withApplied({ spec: applied }, spec, 'sidecars');
  const isAll = (gatewaysDone && sidecarsDone && failures.length === 0) || isFresh(view, istio, before.tag);
  const text = writeLastApplied(isAll ? spec : applied, tag);
  return istio.metadata.annotations?.[LAST_APPLIED] === text ? [] : [annotate(Istio, istio, { [LAST_APPLIED]: text })];
}

/**
 * Whether this is the first installation, of a resource that was not changed since: all its proxies started with the
 * current settings, so a restart would change nothing.
 */
function isFresh(view: View, { metadata }: Istio, recorded: string | undefined): boolean {
  if (recorded !== undefined || metadata.generation !== 1) return false;
  const made = Date.parse(metadata.creationTimestamp ?? '');
  return view.list(IstioPod).every((pod) => Date.parse(pod.metadata.creationTimestamp ?? '') >= made);
}
