// The finalizer of the active resource, set from before the first installation until nothing of it is left. It also
// shows that the installation is ours.
import { Istio } from '../../api/istio.ts';
import { edit } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { FINALIZER } from '../names.ts';

/** Whether Istio was installed for this resource. */
export function hasFinalizer({ metadata }: Istio): boolean {
  return metadata.finalizers?.includes(FINALIZER) ?? false;
}

export function addFinalizer(istio: Istio): Step {
  return withFinalizers(istio, [...(istio.metadata.finalizers ?? []), FINALIZER]);
}

export function removeFinalizer(istio: Istio): Step {
  return withFinalizers(
    istio,
    (istio.metadata.finalizers ?? []).filter((name) => name !== FINALIZER),
  );
}

function withFinalizers(istio: Istio, finalizers: readonly string[]): Step {
  return edit(Istio, istio, { ...istio, metadata: { ...istio.metadata, finalizers } });
}
