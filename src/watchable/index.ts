// Typed maps that can be watched: the in-process spine by which components publish and subscribe.
export { combine } from './combine.ts';
export type { Combined, CombineOptions, StatesOf, UpdatesOf } from './combine.ts';
export { derive } from './derive/derive.ts';
export { deriveAsync } from './derive/derive-async.ts';
export type { AsyncOptions, ComputeAsync, Computed, RetryClock } from './derive/derive-async.ts';
export { Overlay } from './derive/overlay.ts';
export type { DerivedMap, DeriveKeyedOptions } from './derive/derived-map.ts';
export type { Compute, DerivedValues, DeriveOptions } from './derive/derived-values.ts';
export { jsonEqual } from './equal.ts';
export { ClosedError, CycleError } from './errors.ts';
export { deepFreeze, freezeParsed } from './freeze.ts';
export { handleSubscription } from './handle.ts';
export type { HandleOptions, HandlerContext, Logger } from './handle.ts';
export { WatchableMap } from './map.ts';
export type { HandlerLabels, WatchableMetrics } from './metrics.ts';
export { untracked } from './reads/read.ts';
export type { IndexFunction, Lookup, Read, Readable, Selection } from './reads/read.ts';
export { Tracker } from './reads/tracker.ts';
export type { TrackerOptions } from './reads/tracker.ts';
export type {
  ReadonlyWatchable,
  Snapshot,
  StateView,
  SubscribeOptions,
  Subscription,
  Update,
  WatchableOptions,
} from './types.ts';
