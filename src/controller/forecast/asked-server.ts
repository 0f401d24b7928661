// What the server itself says of the changes of a forecast, where it was asked: it knows its defaults, and has its own form
// of quantities and of what stands in lists.
import { identityOf } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { comparable, ownedPart } from '../../kube/write/owned.ts';
import { objectOf } from '../../kube/write/steps.ts';
import type { Step } from '../../kube/write/steps.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { sameFields } from './diff.ts';
import type { Answer } from './server.ts';

export type Ask = (step: Step) => KubeObject | undefined;

export class AskedServer {
  readonly #ask: Ask;
  /** By object: what was wanted, and the form that the server gave it. */
  readonly #settled = new Map<string, { readonly wanted: unknown; readonly owned: unknown }>();

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** What a step does, which is expected to change an object; `isLive` if the server has it as it is here. */
  answer(step: Step, before: KubeObject, manager: string, isLive: boolean): Answer | undefined {
    const id = identityOf(step.kind, before.metadata);
    const wanted = comparable(objectOf(step));
    const known = this.#settled.get(id);
    const isKnown = known !== undefined && jsonEqual(known.wanted, wanted);
    if (isKnown && jsonEqual(known.owned, ownedPart(before, manager))) return { did: 'nothing', object: before };
    const object = isLive ? this.#ask(step) : undefined;
    if (object === undefined) return undefined;
    this.#settled.set(id, { wanted, owned: ownedPart(object, manager) });
    return sameFields(before, object) ? { did: 'nothing', object: before } : { did: 'changed', object };
  }
}
