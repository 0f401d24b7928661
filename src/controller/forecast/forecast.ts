// What controllers would do: their ordinary plans, run on the cluster state with intended changes, each step answered
// as the server would, until nothing is left to do but to wait. Pure: nothing is written anywhere. For `plan`.
import type { AnyKind, KubeObject, ManagedFieldsEntry, Ref } from '../../kube/objects.ts';
import type { Step } from '../../kube/write/steps.ts';
import type { Tables } from '../../kube/tables/tables.ts';
import type { ControllerDefinition, Failure } from '../definition.ts';
import type { Facts } from '../facts.ts';
import type { Change, Planned, Write } from './changes.ts';
import { ControllerLoops } from './loops.ts';

/** An intended change: the object as the server would store it, or the name of one to delete. */
export type Intent =
  | { readonly kind: AnyKind; readonly put: KubeObject }
  | { readonly kind: AnyKind; readonly delete: Ref };

export interface ForecastOptions {
  readonly controllers: readonly ControllerDefinition[];
  /** The current state; synced. */
  readonly tables: Tables;
  readonly now: number;
  /** Applied before anything else. */
  readonly intents?: readonly Intent[];
  /** How far to look ahead: what controllers do after a delay counts if the delay is no longer than this. */
  readonly horizonMs?: number;
  /** Determines the uids of new objects, and with them names that are derived from uids. */
  readonly seed?: string;
  /** Whether nothing that controllers write depends on uids: then one forecast is enough for a report. */
  readonly isUidFree?: boolean;
  /** Why the server would refuse a step; undefined if it would not. */
  readonly refuse?: (step: Step) => string | undefined;
  /**
   * All managedFields of an object on the server: tables leave out those of others. Needed for objects that are taken
   * over from another program; if unknown, the fields of that program stay.
   */
  readonly managedFields?: (kind: AnyKind, object: KubeObject) => readonly ManagedFieldsEntry[] | undefined;
  /** The object that the server returns for a dry run of a step on the live object; undefined if it was not asked. */
  readonly ask?: (step: Step) => KubeObject | undefined;
  /** Whether to simulate Kubernetes, too: it deletes dependents with their owners, and the objects of a namespace. */
  readonly simulatesCluster?: boolean;
}

/** An object for which a controller makes no progress, and why. */
export interface Stalled extends Planned, Pick<Failure, 'reason' | 'message'> {
  readonly controller: string;
}

export interface Forecast {
  /** Every write, in order. */
  readonly writes: readonly Write[];
  /** The net changes, object by object. */
  readonly changes: readonly Change[];
  readonly stalled: readonly Stalled[];
  /** The state in the end. */
  readonly facts: Facts;
}

/** Returns what the controllers would do after the intended changes. */
export function forecast(options: ForecastOptions): Forecast {
  const loops = new ControllerLoops(options);
  try {
    return loops.run();
  } finally {
    loops.close();
  }
}
