// Watches abort signals. However many subscriptions hang on one long-lived signal, it carries a single listener, and
// none once they are gone; joining and leaving cost the same however many there are.

interface Watch {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const watches = new WeakMap<AbortSignal, Watch>();

/** Calls back once when the signal aborts. Returns how to stop listening. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const watch = watches.get(signal) ?? start(signal);
  // A fresh function, so that the same callback given twice counts twice.
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
