// Manifests as a derived map: rendered when they are first read and again when the operator changes, and kept while a
// renderer fails, hangs or is missing, so that the running mesh is left alone.
import type { AnyObject } from '../../../kube/index.ts';
import { derive, deriveAsync } from '../../../watchable/index.ts';
import type { AsyncOptions, Compute, Computed, DerivedValues } from '../../../watchable/index.ts';
import { applyOrder } from './manifests.ts';
import type { IstioOperator } from '../operator/operator.ts';
import type { Renderer } from './renderer.ts';

export type Rendered = Computed<readonly AnyObject[]>;

/** The manifests of the operator that `desired` returns for a key, in the order in which they are applied. */
export function renderedManifests(
  renderer: Renderer,
  desired: Compute<string, IstioOperator>,
  options?: AsyncOptions<string, readonly AnyObject[]>,
): DerivedValues<string, Rendered> {
  if (renderer.known !== undefined) {
    return derive('mesh/manifests', (read, key) => {
      const operator = desired(read, key);
      return operator === undefined ? undefined : renderer.known?.(operator);
    });
  }
  return deriveAsync(
    'mesh/manifests',
    desired,
    async (operator, { signal }) => applyOrder(await renderer.render(operator, signal)),
    options,
  );
}
