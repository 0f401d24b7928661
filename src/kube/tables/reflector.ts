// Keeps a table in sync with the API server: list, then watch, until the signal aborts. Run for each table.
//
//   listing ──listed──▶ watching ──closed──▶ watching            a normal close: resume from the last version
//      ▲                   ├────expired────▶ listing             the server no longer has that version
//      │                   ├────trouble────▶ waiting ▶ watching  connection or server error: the version is valid
//      │                   └────other──────▶ waiting ▶ listing
//      └───── waiting ◀──failed── listing
//
// How long can the table be behind? Once the server is healthy again, no longer than one wait (at most 30 s, or what
// the server asks by Retry-After up to 60 s) and one list. A connection that died silently is detected after 150 s; the
// server sends a bookmark about every minute, so a healthy watch is never silent for that long.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Client } from '../client/client.ts';
import { delay } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { isServed } from '../client/discovery.ts';
import { ApiError, isExpired, isForbidden, isNotFound, isTransient } from '../errors.ts';
import type { KubeObject } from '../objects.ts';
import type { Table } from './table.ts';

/** `failures` counts the failures since the last healthy watch; the backoff depends on it. */
export type ReflectorState =
  | { readonly name: 'listing'; readonly failures: number }
  | { readonly name: 'watching'; readonly from: string; readonly failures: number }
  | { readonly name: 'waiting'; readonly ms: number; readonly next: ReflectorState; readonly isUnanswered?: boolean }
  | { readonly name: 'stopped' };

/** The result of a state. */
export type ReflectorOutcome =
  | { readonly name: 'listed'; readonly version: string }
  /** The watch was closed normally. `healthy`: it delivered something, or at least stayed open. */
  | { readonly name: 'closed'; readonly version: string; readonly healthy: boolean }
  /** `returned`: the server has answered again since the request was sent. */
  | {
      readonly name: 'failed';
      readonly version?: string;
      readonly healthy: boolean;
      readonly error: unknown;
      readonly returned?: boolean;
    }
  /** Ended early if `installed` (the kind may be served now) or `returned` (the server answers again). */
  | { readonly name: 'waited'; readonly installed?: boolean; readonly returned?: boolean }
  | { readonly name: 'aborted' };

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: Client;
  readonly table: Table<T>;
  /** The namespace to keep in sync, if the table lists each namespace separately. */
  readonly namespace?: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** From 0 up to 1. */
  readonly random?: () => number;
  readonly onState?: (state: ReflectorState) => void;
  /** Called for every failure, for logs and metrics. The reflector retries by itself. */
  readonly onError?: (error: unknown) => void;
  /** Resolves when a kind that was not served may be served: that ends a wait. */
  readonly untilInstalled?: (signal: AbortSignal) => Promise<void>;
  /** Resolves when the server answers again: that ends a wait, and resets the backoff. */
  readonly untilReturn?: (signal: AbortSignal) => Promise<void>;
  /** Objects in one page of a list. */
  readonly pageSize?: number;
  /** Silence after which a watch counts as dead, in milliseconds. */
  readonly idleMs?: number;
}

const FIRST_WAIT_MS = 800;
const LONGEST_WAIT_MS = 30_000;
const LONGEST_RETRY_AFTER_MS = 60_000;
/** A watch that stayed open for this long was healthy even without an event. */
const HEALTHY_MS = 5_000;
/** After this many failures in a row, it lists again: where watches never work, lists keep the table current. */
const FAILURES_PER_VERSION = 8;
const LIST_TIMEOUT_MS = 60_000;

/** Runs until the signal aborts; resolves then, and never rejects. */
export async function runReflector<T extends KubeObject>(options: ReflectorOptions<T>): Promise<void> {
  const { signal, random = Math.random } = options;
  let state: ReflectorState = { name: 'listing', failures: 0 };
  while (state.name !== 'stopped') {
    notify(options.onState, state);
    const outcome = await outcomeOf(state, options);
    const ended: ReflectorOutcome = signal.aborted ? { name: 'aborted' } : outcome;
    if (ended.name === 'failed' && !isExpected(ended.error, state, options)) notify(options.onError, ended.error);
    state = nextState(state, ended, random);
  }
  notify(options.onState, state);
}

/** The state machine with all of its transitions. */
export function nextState(state: ReflectorState, outcome: ReflectorOutcome, random: () => number): ReflectorState {
  if (outcome.name === 'aborted' || state.name === 'stopped') return { name: 'stopped' };
  if (state.name === 'waiting') {
    const { installed = false, returned = false } = outcome.name === 'waited' ? outcome : {};
    if (installed) return { name: 'listing', failures: 0 };
    // A server that has just come back may still reject requests for a moment: retry soon.
    return returned && 'failures' in state.next ? { ...state.next, failures: 0 } : state.next;
  }
  const { failures } = state;
  // A list does not reset the backoff: where every watch fails, lists must not follow each other without a pause.
  if (outcome.name === 'listed') return { name: 'watching', from: outcome.version, failures };
  if (outcome.name === 'closed') {
    const watching = { name: 'watching', from: outcome.version } as const;
    if (outcome.healthy) return { ...watching, failures: 0 };
    return after({ ...watching, failures: failures + 1 }, undefined, random);
  }
  if (outcome.name === 'waited') return state;
  const { version, healthy, error, returned = false } = outcome;
  const count = (healthy || returned ? 0 : failures) + 1;
  const relist = !isTransient(error) || isVersionTooLarge(error) || count >= FAILURES_PER_VERSION;
  if (version !== undefined && !relist)
    return after({ name: 'watching', from: version, failures: count }, error, random);
  const listing = { name: 'listing', failures: count } as const;
  return isExpired(error) && count === 1 ? listing : after(listing, error, random);
}

function after(next: ReflectorState & { failures: number }, error: unknown, random: () => number): ReflectorState {
  const backoff = Math.min(FIRST_WAIT_MS * 2 ** (next.failures - 1), LONGEST_WAIT_MS) * (1 - random() / 2);
  const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  const ms = Math.max(backoff, Math.min(asked, LONGEST_RETRY_AFTER_MS));
  return { name: 'waiting', ms, next, ...(isUnanswered(error) && { isUnanswered: true }) };
}

/** Whether there was no answer, or a server error. */
function isUnanswered(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 0 || error.code >= 500);
}

async function outcomeOf<T extends KubeObject>(
  state: Exclude<ReflectorState, { name: 'stopped' }>,
  options: ReflectorOptions<T>,
): Promise<ReflectorOutcome> {
  const { clock, signal, untilReturn } = options;
  if (untilReturn === undefined) return attempt(state, options);
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  let returned = false;
  const back = untilReturn(either).then(() => void (returned = !either.aborted));
  let outcome: ReflectorOutcome;
  if (state.name === 'waiting' && state.isUnanswered) {
    // At most until the server answers any request.
    await Promise.race([delay(clock, state.ms, either), back]);
    outcome = { name: 'waited', returned };
  } else {
    outcome = await attempt(state, options);
    // A server that is starting may hold a request for a while, and reject it after it has answered others.
    if (outcome.name === 'failed' && returned) outcome = { ...outcome, returned };
  }
  over.abort();
  return outcome;
}

function attempt<T extends KubeObject>(
  state: Exclude<ReflectorState, { name: 'stopped' }>,
  options: ReflectorOptions<T>,
): Promise<ReflectorOutcome> {
  if (state.name === 'listing') return list(options);
  return state.name === 'watching' ? watch(state.from, options) : wait(state.ms, options);
}

/** Waits; for a kind that is not served, at most until it may be served. */
async function wait<T extends KubeObject>(ms: number, options: ReflectorOptions<T>): Promise<ReflectorOutcome> {
  const { clock, signal, table, namespace, untilInstalled } = options;
  if (table.stateOf(namespace).served || untilInstalled === undefined) {
    await delay(clock, ms, signal);
    return { name: 'waited' };
  }
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const installed = await Promise.race([
    delay(clock, ms, either).then(() => false),
    untilInstalled(either).then(() => !either.aborted),
  ]);
  over.abort();
  return { name: 'waited', installed };
}

/** Which objects to request for a table, and which parts of them. */
function requestOptions<T extends KubeObject>({ table, namespace: listed }: ReflectorOptions<T>): object {
  const { selection, omitsForeignManagedFields: omitForeignManagedFields, metadataOnly } = table;
  const namespace = listed ?? selection.namespace;
  return { ...selection, namespace, omitForeignManagedFields, ...(metadataOnly && { metadataOnly }) };
}

async function list<T extends KubeObject>(options: ReflectorOptions<T>): Promise<ReflectorOutcome> {
  const { client, table, namespace, signal, pageSize = 500 } = options;
  try {
    const listing = table.beginList(namespace);
    const request = { ...requestOptions(options), signal, limit: pageSize, timeoutMs: LIST_TIMEOUT_MS };
    let page = await client.list(table.kind, request);
    // All pages show the state at the version of the first.
    const version = page.resourceVersion;
    listing.add(page.items);
    while (page.continue !== undefined) {
      await nextTurn();
      page = await client.list(table.kind, { ...request, continue: page.continue });
      listing.add(page.items);
    }
    await nextTurn();
    if (!signal.aborted) listing.complete(version);
    return { name: 'listed', version };
  } catch (error) {
    const isUnreadable = isForbidden(error) && table.optional && !table.stateOf(namespace).synced;
    if (isNotFound(error) ? await isGone(options) : isUnreadable) table.notServed(namespace);
    return { name: 'failed', healthy: false, error };
  }
}

/** Whether a kind that was not found is not served. If that were wrong, all its objects would seem deleted. */
async function isGone<T extends KubeObject>({
  client,
  table,
  namespace,
  signal,
}: ReflectorOptions<T>): Promise<boolean> {
  if (!table.stateOf(namespace).served) return false;
  try {
    return !(await isServed(client, table.kind, { signal, timeoutMs: LIST_TIMEOUT_MS }));
  } catch (error) {
    // Without permission for discovery, believe the list if nothing is lost, or it would wait forever for a kind that is
    // not installed. Objects of a definition that is deleted are deleted first.
    return isForbidden(error) && table.size === 0;
  }
}

async function watch<T extends KubeObject>(from: string, options: ReflectorOptions<T>): Promise<ReflectorOutcome> {
  const { client, table, clock, signal, random = Math.random, idleMs = 150_000 } = options;
  let opened = Infinity;
  let version = from;
  const isHealthy = (): boolean => version !== from || clock.monotonic() - opened >= HEALTHY_MS;
  try {
    const timeoutSeconds = 290 + Math.floor(random() * 300);
    const onOpen = (): void => void (opened = clock.monotonic());
    const watched = { ...requestOptions(options), signal, resourceVersion: from };
    const request = { ...watched, timeoutSeconds, idleMs, onOpen };
    await client.watch(table.kind, request, (event) => {
      table.event(event);
      version = event.object.metadata.resourceVersion ?? version;
    });
    return { name: 'closed', version, healthy: isHealthy() };
  } catch (error) {
    return { name: 'failed', version, healthy: isHealthy(), error };
  }
}

/** The version is in the server's future, as after a restored backup; waiting for it would never end. */
function isVersionTooLarge(error: ApiError): boolean {
  return error.details?.causes?.some((cause) => cause.reason === 'ResourceVersionTooLarge') ?? false;
}

/** Expected errors that are not reported: an expired version, and a kind that is not served. */
function isExpected<T extends KubeObject>(
  error: unknown,
  state: ReflectorState,
  { table, namespace }: ReflectorOptions<T>,
): boolean {
  // The list that follows tells whether a kind is gone.
  return isExpired(error) || (isNotFound(error) && (!table.stateOf(namespace).served || state.name === 'watching'));
}

/** A callback that throws must not end the reflector. */
function notify<V>(callback: ((value: V) => void) | undefined, value: V): void {
  try {
    callback?.(value);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
