// Manifests for a forecast, which can't wait for a renderer: missing manifests are rendered, then the forecast is
// repeated.
import { stringifyJson } from '../../kube/index.ts';
import type { AnyObject } from '../../kube/index.ts';
import type { IstioOperator } from '../installation/operator/operator.ts';
import { applyOrder } from '../installation/render/manifests.ts';
import type { Rendered } from '../installation/render/rendered.ts';
import type { Renderer } from '../installation/render/renderer.ts';

export class Renderings implements Renderer {
  readonly name: string;
  readonly #renderer: Renderer;
  readonly #rendered = new Map<string, Rendered>();
  readonly #missing = new Map<string, IstioOperator>();

  constructor(renderer: Renderer) {
    this.name = renderer.name;
    this.#renderer = renderer;
  }

  render(operator: IstioOperator, signal?: AbortSignal): Promise<readonly AnyObject[]> {
    return this.#renderer.render(operator, signal);
  }

  known(operator: IstioOperator): Rendered {
    const id = stringifyJson(operator);
    const rendered = this.#rendered.get(id);
    if (rendered === undefined) this.#missing.set(id, operator);
    return rendered ?? { state: 'pending' };
  }

  /** Repeats a computation until all manifests that it needs are rendered. */
  async repeat<R>(make: () => R | Promise<R>, signal?: AbortSignal): Promise<R> {
    for (;;) {
      this.#missing.clear();
      const made = await make();
      if (this.#missing.size === 0) return made;
      for (const [id, operator] of this.#missing) this.#rendered.set(id, await this.#attempt(operator, signal));
    }
  }

  async #attempt(operator: IstioOperator, signal?: AbortSignal): Promise<Rendered> {
    try {
      return { state: 'ready', value: applyOrder(await this.render(operator, signal)) };
    } catch (error) {
      signal?.throwIfAborted();
      return { state: 'failed', error: error instanceof Error ? error.message : String(error) };
    }
  }
}
