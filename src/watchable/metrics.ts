// The metrics of watchable maps. The implementation of the interface chooses their names.

/** Who handles what: the component and the kind of message. */
export interface HandlerLabels {
  readonly runner: string;
  readonly message: string;
}

/** Receives counts and timings from maps and from `handleSubscription`. */
export interface WatchableMetrics {
  /** A map changed: an effective store or delete. `message` is the name of the map. */
  published(labels: { readonly message: string }): void;
  /** A handler is about to be called for an update or a delete. */
  event(labels: HandlerLabels, type: 'update' | 'delete'): void;
  /** A handler returned without throwing and without reporting an error. */
  succeeded(labels: HandlerLabels): void;
  /** A handler reported an error (`error`) or threw (`panic`). */
  failed(labels: HandlerLabels, reason: 'error' | 'panic'): void;
  /** A handler threw and the loop goes on; `failed` is called as well. */
  panicRecovered(labels: HandlerLabels): void;
  /** How long one call of a handler took, whatever its outcome. */
  duration(labels: HandlerLabels, seconds: number): void;
  /** How many mutations are waiting for the handler. */
  depth(labels: HandlerLabels, mutations: number): void;
}
