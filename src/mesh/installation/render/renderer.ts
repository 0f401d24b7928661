// A renderer turns an IstioOperator into objects of the cluster. It is deterministic, so results are cached.
import type { AnyObject } from '../../../kube/index.ts';
import type { IstioOperator } from '../operator/operator.ts';
import type { Rendered } from './rendered.ts';

export interface Renderer {
  /** The name for messages: `istioctl /usr/local/bin/istioctl`. */
  readonly name: string;
  /** Whether the rendered objects run no proxies. */
  readonly isSimulated?: boolean;
  /** Rejects with a RenderError. Stops when the signal aborts. */
  render(operator: IstioOperator, signal?: AbortSignal): Promise<readonly AnyObject[]>;
  /** Returns a cached result without waiting; only for renderers of forecasts. */
  known?(operator: IstioOperator): Rendered;
}

/** Why rendering failed; the message is for the status of the resource. */
export class RenderError extends Error {
  override readonly name = 'RenderError';
}
