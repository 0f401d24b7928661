// Whether proxies know routes that were written just now: an environment is ready when requests get there, not when its
// routes are stored.
import type { View } from '../../controller/index.ts';
import type { VirtualService } from '../../traffic/istio/objects.ts';
import type { Settings } from '../settings.ts';

/** A mesh that tells how far it is, and does not come to an end, is not waited for any longer than this. */
const TOLD_WITHIN_MS = 10_000;

/** How much longer a status waits until proxies know the routes in these VirtualServices; 0 if they do. */
export function timeForProxies(
  view: View,
  routed: readonly VirtualService[],
  { settleMs }: Pick<Settings, 'settleMs'>,
): number {
  const told = routed.map(isDistributed);
  if (settleMs === 0 || told.every((each) => each === true)) return 0;
  const within = told.includes(false) ? TOLD_WITHIN_MS : settleMs;
  return Math.max(0, within - view.heldFor('proxies learn of routes'));
}

interface Status {
  /** Protobuf writes 64-bit numbers as text. */
  readonly observedGeneration?: number | string;
  readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
}

/** Whether istiod says that all proxies know a VirtualService as it is now; undefined where it says nothing of that. */
export function isDistributed({ metadata, ...object }: VirtualService): boolean | undefined {
  const { observedGeneration, conditions = [] } = (object as { readonly status?: Status }).status ?? {};
  const reconciled = conditions.find(({ type }) => type === 'Reconciled');
  // Without a generation it may be about what was there before.
  if (reconciled === undefined || observedGeneration === undefined) return undefined;
  return reconciled.status === 'True' && Number(observedGeneration) >= (metadata.generation ?? 0);
}
