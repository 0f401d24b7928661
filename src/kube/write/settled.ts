// The form that the server gave to applied objects (canonical quantities, defaults in atomic lists), where it is not what
// was applied: such a difference is not written again. Used by the applier.
import { jsonEqual } from '../../watchable/index.ts';
import { identityOf } from '../objects.ts';
import type { AnyKind, KubeObject } from '../objects.ts';
import { comparable } from './owned.ts';

interface Form {
  readonly kind: AnyKind;
  readonly metadata: Pick<KubeObject['metadata'], 'name' | 'namespace'>;
  /** What was applied, and what the server made of it. */
  readonly desired: unknown;
  readonly owned: unknown;
}

/** So many forms may be remembered before it is checked whether their objects still exist. */
const FIRST_SWEEP = 256;

export class SettledForms {
  readonly #forms = new Map<string, Form>();
  readonly #exists: (kind: AnyKind, object: KubeObject) => boolean;
  #sweepAt = FIRST_SWEEP;

  /** Forms of objects that no longer exist are forgotten: others may have deleted them. */
  constructor(exists: (kind: AnyKind, object: KubeObject) => boolean) {
    this.#exists = exists;
  }

  get size(): number {
    return this.#forms.size;
  }

  /** Whether what we own in a live object is what is desired, in our form or in that of the server. */
  isSettled(kind: AnyKind, live: KubeObject, owned: unknown, object: KubeObject): boolean {
    const desired = comparable(object);
    if (jsonEqual(owned, desired)) return true;
    const form = this.#forms.get(identityOf(kind, live.metadata));
    return form !== undefined && jsonEqual(form.desired, desired) && jsonEqual(form.owned, owned);
  }

  /** Remembers the server's form of an applied object. */
  settle(kind: AnyKind, { metadata }: KubeObject, owned: unknown, object: KubeObject): void {
    const id = identityOf(kind, metadata);
    const desired = comparable(object);
    if (jsonEqual(owned, desired)) {
      this.#forms.delete(id);
      return;
    }
    const { name, namespace } = metadata;
    this.#forms.set(id, { kind, metadata: { name, namespace }, desired, owned });
    if (this.#forms.size >= this.#sweepAt) this.#sweep();
  }

  forget(kind: AnyKind, { metadata }: KubeObject): void {
    this.#forms.delete(identityOf(kind, metadata));
  }

  #sweep(): void {
    for (const [id, { kind, metadata }] of this.#forms) {
      if (!this.#exists(kind, { metadata } as KubeObject)) this.#forms.delete(id);
    }
    this.#sweepAt = Math.max(FIRST_SWEEP, 2 * this.#forms.size);
  }
}
