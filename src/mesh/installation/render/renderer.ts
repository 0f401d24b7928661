// What turns an IstioOperator into objects of the cluster. Equal input gives equal output: it is rendered once and kept.
import type { AnyObject } from '../../../kube/index.ts';
import type { IstioOperator } from '../operator/operator.ts';
import type { Rendered } from './rendered.ts';

export interface Renderer {
  /** For people: `istioctl /usr/local/bin/istioctl`. */
  readonly name: string;
  /** What it renders runs no proxies. */
  readonly isSimulated?: boolean;
  /** Rejects with a RenderError. Gives up when the signal aborts. */
  render(operator: IstioOperator, signal?: AbortSignal): Promise<readonly AnyObject[]>;
  /** What is known already, of a renderer for those who can't wait. */
  known?(operator: IstioOperator): Rendered;
}

/** Why there are no manifests; the message is for the status of the resource. */
export class RenderError extends Error {
  override readonly name = 'RenderError';
}
