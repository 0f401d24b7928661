// Gauges that count objects by state and by condition.
import type { Kind, KubeObject } from '../../kube/objects.ts';
import { conditionsOf } from '../conditions.ts';
import type { TableGauge } from '../definition.ts';

export interface StateGauge<T extends KubeObject> {
  readonly name: string;
  readonly help: string;
  /** `state` by default. */
  readonly label?: string;
  readonly kind: Kind<T>;
  /** All values of `stateOf`: a series that is absent can't fall to 0. */
  readonly states: readonly string[];
  /** Undefined for an object that is not counted. */
  stateOf(object: T): string | undefined;
}

/** Counts objects by state. */
export function countByState<T extends KubeObject>(gauge: StateGauge<T>): TableGauge {
  const { name, help, kind, states, label = 'state' } = gauge;
  return {
    name,
    help,
    labels: [label],
    series(facts) {
      const counts = new Map(states.map((state) => [state, 0]));
      for (const object of facts.list(kind)) {
        const state = gauge.stateOf(object);
        if (state !== undefined) counts.set(state, (counts.get(state) ?? 0) + 1);
      }
      return [...counts].map(([state, value]) => ({ labels: { [label]: state }, value }));
    },
  };
}

/** Counts objects by each of their conditions. */
export function countByCondition(name: string, help: string, kind: Kind<KubeObject>): TableGauge {
  return {
    name,
    help,
    labels: ['type', 'status', 'reason'],
    series(facts) {
      const counts = new Map<string, number>();
      for (const object of facts.list(kind)) {
        for (const { type, status, reason } of conditionsOf(object)) {
          const id = JSON.stringify({ type, status, reason });
          counts.set(id, (counts.get(id) ?? 0) + 1);
        }
      }
      return [...counts].map(([id, value]) => ({ labels: JSON.parse(id) as Record<string, string>, value }));
    },
  };
}
