// What screens read: the store, the detail of one object, the time.
import { useEffect, useState } from 'preact/hooks';
import type { Detail, DetailLine } from '../../data.ts';
import { store } from './store.ts';
import type { State } from './store.ts';
import { follow } from './stream.ts';

/** What there is, drawn again when it changes. */
export function useLive(): State {
  const [state, set] = useState(store.state);
  useEffect(() => {
    set(store.state);
    return store.subscribe(() => set(store.state));
  }, []);
  return state;
}

/** The time, every so often. */
export function useNow(everyMs = 1_000): number {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => set(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export interface DetailState<D> {
  /** Undefined: not told yet; null: there is none. */
  readonly detail: D | null | undefined;
  readonly problem: string | undefined;
}

/** One object in detail, while it changes. */
export function useDetail<D extends Detail>(path: string): DetailState<D> {
  const [state, set] = useState<DetailState<D>>({ detail: undefined, problem: undefined });
  useEffect(() => {
    set({ detail: undefined, problem: undefined });
    let frame: number | undefined;
    const stop = follow<DetailLine>(path, {
      line(line) {
        if (!('detail' in line)) return;
        if (frame !== undefined) cancelAnimationFrame(frame);
        frame = requestAnimationFrame(() => set({ detail: line.detail as D | null, problem: undefined }));
      },
      open: () => set(({ detail }) => ({ detail, problem: undefined })),
      lost: (problem) => set(({ detail }) => ({ detail, problem })),
      signedOut: (problem) => store.signOut(problem),
    });
    return () => {
      if (frame !== undefined) cancelAnimationFrame(frame);
      stop();
    };
  }, [path]);
  return state;
}
