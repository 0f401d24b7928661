// Hooks of the screens: the store, one object in detail, the time.
import { useEffect, useState } from 'preact/hooks';
import type { Detail, DetailLine } from '../../data.ts';
import { store } from './store.ts';
import type { State } from './store.ts';
import { follow } from './stream.ts';

/** The store's state; renders again when it changes. */
export function useLive(): State {
  const [state, set] = useState(store.state);
  useEffect(() => {
    set(store.state);
    return store.subscribe(() => set(store.state));
  }, []);
  return state;
}

/** The current time, updated at an interval. */
export function useNow(everyMs = 1_000): number {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => set(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export interface DetailState<D> {
  /** Undefined: not loaded yet; null: the object does not exist. */
  readonly detail: D | null | undefined;
  readonly problem: string | undefined;
}

/** One object in detail, updated live. */
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
