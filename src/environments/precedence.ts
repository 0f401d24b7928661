// Which of several environments gets the requests that they all ask for. Routes are written in this order, and conflicts
// are told by it.

export interface Dated {
  /** `namespace/name` */
  readonly environment: string;
  /** When it was created, in whole seconds; empty for one in a manifest, which is older than all that are created now. */
  readonly createdAt: string;
}

/** Sorts the environment that was created first before others; of two from the same second, by namespace and name. */
export function byPrecedence(a: Dated, b: Dated): number {
  const [one, other] = [a, b].map(({ createdAt, environment }) => `${createdAt} ${environment}`);
  return one! < other! ? -1 : 1;
}
