// What controllers would do: their ordinary plans, run on a world with changes that nobody has made, each step answered
// as the server would, until nothing is left to do but to wait. Pure: nothing is written, here or there. For `plan`.
import type { AnyKind, KubeObject, ManagedFieldsEntry, Ref } from '../../kube/objects.ts';
import type { Step } from '../../kube/write/steps.ts';
import type { Tables } from '../../kube/tables/tables.ts';
import type { ControllerDefinition, Failure } from '../definition.ts';
import type { Facts } from '../facts.ts';
import type { Change, Planned, Write } from './changes.ts';
import { ControllerLoops } from './loops.ts';

/** A change that somebody makes: the object as the server would store it, or the name of one that is deleted. */
export type Intent =
  | { readonly kind: AnyKind; readonly put: KubeObject }
  | { readonly kind: AnyKind; readonly delete: Ref };

export interface ForecastOptions {
  readonly controllers: readonly ControllerDefinition[];
  /** The world as it is; synced. */
  readonly tables: Tables;
  readonly now: number;
  /** Done before anything else. */
  readonly intents?: readonly Intent[];
  /** How far to look ahead: what controllers do after a while counts if the while is no longer than this. */
  readonly horizonMs?: number;
  /** Makes up the uids of new objects. Names may follow from them, and differ when this does. */
  readonly seed?: string;
  /** Whether nothing that controllers write follows from uids: to report what they do, one forecast is enough then. */
  readonly isUidFree?: boolean;
  /** Why the server would refuse a step; undefined if it would not. */
  readonly refuse?: (step: Step) => string | undefined;
  /**
   * All managedFields of an object as the server has it: tables leave out those of others. Asked for what is taken over
   * from another program; where it is not known, what that program set stays.
   */
  readonly managedFields?: (kind: AnyKind, object: KubeObject) => readonly ManagedFieldsEntry[] | undefined;
  /** The object as the server says that it would be after a step that changes one as it is now; undefined if it was not asked. */
  readonly ask?: (step: Step) => KubeObject | undefined;
  /** Whether to foresee what Kubernetes itself does, too: dependents go with their owners, and with a namespace what is in it. */
  readonly simulatesCluster?: boolean;
}

/** A controller that can't go on with an object, and why. */
export interface Stalled extends Planned, Pick<Failure, 'reason' | 'message'> {
  readonly controller: string;
}

export interface Forecast {
  /** Every write, in order. */
  readonly writes: readonly Write[];
  /** What they come to, object by object. */
  readonly changes: readonly Change[];
  readonly stalled: readonly Stalled[];
  /** What would be there in the end. */
  readonly facts: Facts;
}

/** Tells what the controllers would do, were the intended changes made. */
export function forecast(options: ForecastOptions): Forecast {
  const loops = new ControllerLoops(options);
  try {
    return loops.run();
  } finally {
    loops.close();
  }
}
