// The answers of the server to dry runs of the changes of a forecast: it knows its defaults, and has its own form of
// quantities and of list items.
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
  /** By object: the desired fields, and the form that the server gave them. */
  readonly #settled = new Map<string, { readonly desired: unknown; readonly owned: unknown }>();

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** The result of a step that is expected to change an object; `isLive` if the server has the object as it is here. */
  answer(step: Step, before: KubeObject, manager: string, isLive: boolean): Answer | undefined {
    const id = identityOf(step.kind, before.metadata);
    const desired = comparable(objectOf(step));
    const known = this.#settled.get(id);
    const isKnown = known !== undefined && jsonEqual(known.desired, desired);
    if (isKnown && jsonEqual(known.owned, ownedPart(before, manager))) return { did: 'nothing', object: before };
    const object = isLive ? this.#ask(step) : undefined;
    if (object === undefined) return undefined;
    this.#settled.set(id, { desired, owned: ownedPart(object, manager) });
    return sameFields(before, object) ? { did: 'nothing', object: before } : { did: 'changed', object };
  }
}
