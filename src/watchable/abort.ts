// Watches abort signals. However many subscriptions share a long-lived signal, it has a single listener, and none once
// they have ended. Adding and removing a subscription takes constant time.

interface Watch {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const watches = new WeakMap<AbortSignal, Watch>();

/** Calls back once when the signal aborts. Returns a function that stops listening. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const watch = watches.get(signal) ?? start(signal);
  // A new function each time, so that the same callback can be registered twice.
  const entry = (): void => callback();
  watch.callbacks.add(entry);
  return () => {
    if (!watch.callbacks.delete(entry) || watch.callbacks.size > 0) return;
    signal.removeEventListener('abort', watch.listener);
    if (watches.get(signal) === watch) watches.delete(signal);
  };
}

function start(signal: AbortSignal): Watch {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    for (const callback of callbacks) callback();
  };
  const watch = { callbacks, listener };
  watches.set(signal, watch);
  signal.addEventListener('abort', listener, { once: true });
  return watch;
}
