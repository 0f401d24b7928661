// The finalizer of the ruling resource: there from before the first installation until nothing of it is left. It says as
// well that it was us who installed what is there.
import { Istio } from '../api/istio.ts';
import { edit } from '../kube/index.ts';
import type { Step } from '../kube/index.ts';
import { FINALIZER } from './names.ts';

/** Whether what is installed was installed for this resource. */
export function isHeld({ metadata }: Istio): boolean {
  return metadata.finalizers?.includes(FINALIZER) ?? false;
}

export function hold(istio: Istio): Step {
  return withFinalizers(istio, [...(istio.metadata.finalizers ?? []), FINALIZER]);
}

export function release(istio: Istio): Step {
  return withFinalizers(
    istio,
    (istio.metadata.finalizers ?? []).filter((name) => name !== FINALIZER),
  );
}

function withFinalizers(istio: Istio, finalizers: readonly string[]): Step {
  return edit(Istio, istio, { ...istio, metadata: { ...istio.metadata, finalizers } });
}
