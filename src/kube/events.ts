// Records Events on objects for people to read. Controllers call `record` and never wait for it or fail because of it.
//
// A repeated event becomes a series: its count is patched instead of creating a new object. For each object and reason
// there may be a burst of 25 writes and then one every five minutes; events beyond that are counted in the series, or
// dropped. A frequent reason does not suppress others.
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { BoundedMap } from './bounded-map.ts';
import type { Client } from './client/client.ts';
import { delay } from './clock.ts';
import type { Clock } from './clock.ts';
import { isNotFound } from './errors.ts';
import { microTime } from './times.ts';
import { defineKind } from './objects.ts';
import type { KubeObject } from './objects.ts';
import { TokenBucket } from './token-bucket.ts';

interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface Event extends KubeObject {
  readonly eventTime: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
}

export const Event = defineKind<Event>('events.k8s.io/v1', 'Event', 'events');

export interface EventInput {
  /** The object that the event is about. */
  readonly regarding: KubeObject;
  readonly type: 'Normal' | 'Warning';
  /** Why, in CamelCase; people filter by it. */
  readonly reason: string;
  /** What was done or attempted, in CamelCase. */
  readonly action: string;
  /** A sentence for people. Cut at 1 kB. */
  readonly note: string;
  readonly related?: KubeObject;
}

export interface EventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** The reporting controller, such as `offshoot`. */
  readonly controller: string;
  /** Its instance; the host name by default. */
  readonly instance?: string;
  readonly onError?: (error: unknown) => void;
}

/** A recorded event, and how often it occurred. */
interface Series {
  event: Event;
  count: number;
  lastAt: number;
  /** The count that the server knows; 0 before the event is created. */
  written: number;
  queued: boolean;
}

/** After a longer pause, the same event starts a new series. */
const WINDOW_MS = 6 * 60_000;
const BURST = 25;
const PERIOD_MS = 5 * 60_000;
const MAX_REMEMBERED = 4096;
const QUEUE_LIMIT = 1000;
const NOTE_BYTES = 1024;
const WRITE_TIMEOUT_MS = 5_000;

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #series = new BoundedMap<string, Series>(MAX_REMEMBERED);
  readonly #tokens = new BoundedMap<string, TokenBucket>(MAX_REMEMBERED);
  readonly #queue: Series[] = [];
  #writing: Promise<void> | undefined;
  #failed = 0;
  #dropped = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  /** How many writes failed, and how many events were dropped to protect the API server. */
  get counts(): { readonly failed: number; readonly dropped: number } {
    return { failed: this.#failed, dropped: this.#dropped };
  }

  /** Records an event; returns at once and never throws. */
  record(input: EventInput): void {
    const { clock } = this.#options;
    const id = identityOf(input);
    const now = clock.monotonic();
    const known = this.#series.get(id);
    const tokens = this.#tokensOf(input);
    if (known && now - known.lastAt <= WINDOW_MS) {
      known.count += 1;
      known.lastAt = now;
      known.event = { ...known.event, series: { count: known.count, lastObservedTime: microTime(clock.now()) } };
      this.#series.set(id, known);
      if (!known.queued && tokens.take()) this.#enqueue(known);
      return;
    }
    if (!tokens.take()) {
      this.#dropped += 1;
      return;
    }
    const series = { event: this.#eventOf(input), count: 1, lastAt: now, written: 0, queued: false };
    this.#series.set(id, series);
    this.#enqueue(series);
  }

  /** Writes queued events and counts that were held back, for a graceful stop. Never rejects; stops at the deadline. */
  async flush(withinMs = 5_000): Promise<void> {
    for (const series of this.#series.values()) {
      if (series.written > 0 && series.written < series.count && !series.queued) this.#enqueue(series);
    }
    const written = new AbortController();
    const deadline = delay(this.#options.clock, withinMs, written.signal);
    await Promise.race([this.#writing, deadline]);
    written.abort();
  }

  #tokensOf({ regarding: { apiVersion, kind, metadata }, type, reason }: EventInput): TokenBucket {
    const id = JSON.stringify([apiVersion, kind, metadata.namespace, metadata.name, metadata.uid, type, reason]);
    const tokens = this.#tokens.get(id) ?? new TokenBucket(this.#options.clock, BURST, PERIOD_MS);
    this.#tokens.set(id, tokens);
    return tokens;
  }

  #eventOf({ regarding, related, type, reason, action, note }: EventInput): Event {
    const { clock, controller, instance = hostname() } = this.#options;
    return {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: {
        name: nameFor(regarding.metadata.name),
        // Events have a namespace even if the object has none.
        namespace: regarding.metadata.namespace ?? 'default',
      },
      eventTime: microTime(clock.now()),
      type,
      reason,
      action,
      note: truncate(note, NOTE_BYTES),
      regarding: referenceTo(regarding),
      ...(related ? { related: referenceTo(related) } : {}),
      reportingController: controller,
      reportingInstance: truncate(instance, 128),
    };
  }

  #enqueue(series: Series): void {
    if (this.#queue.length >= QUEUE_LIMIT) {
      this.#dropped += 1;
      return;
    }
    series.queued = true;
    this.#queue.push(series);
    this.#writing ??= this.#write();
  }

  /** One write at a time, in order: a series can't be patched before its event exists. */
  async #write(): Promise<void> {
    for (let series = this.#queue.shift(); series; series = this.#queue.shift()) {
      series.queued = false;
      const { count } = series;
      try {
        await this.#send(series);
        series.written = count;
      } catch (error) {
        this.#failed += 1;
        this.#report(error);
      }
    }
    this.#writing = undefined;
  }

  async #send(series: Series): Promise<void> {
    const { client } = this.#options;
    const { event, written } = series;
    const timeoutMs = WRITE_TIMEOUT_MS;
    if (written > 0) {
      try {
        await client.patch(Event, event.metadata, { type: 'merge', body: { series: event.series } }, { timeoutMs });
        return;
      } catch (error) {
        // The server deletes events after about an hour; the series continues as a new event.
        if (!isNotFound(error)) throw error;
        series.event = { ...event, metadata: { ...event.metadata, name: nameFor(event.regarding.name) } };
      }
    }
    await client.create(Event, series.event, { timeoutMs });
  }

  #report(error: unknown): void {
    try {
      this.#options.onError?.(error);
    } catch {
      // Recording must not fail, whatever the callback does.
    }
  }
}

function identityOf({ regarding, related, type, reason, action, note }: EventInput): string {
  return JSON.stringify(
    [referenceTo(regarding), related && referenceTo(related), type, reason, action, note],
    (key, value) =>
      // The same event may be about a later version of the object.
      key === 'resourceVersion' ? undefined : value,
  );
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject): ObjectReference {
  const { name, namespace, uid, resourceVersion } = metadata;
  return { apiVersion, kind, name, namespace, uid, resourceVersion };
}

function nameFor(name: string): string {
  // 253 characters at most, with a dot and 16 digits at the end.
  return `${name.slice(0, 236).replace(/[-.]+$/, '')}.${randomBytes(8).toString('hex')}`;
}

/** Truncates to a number of UTF-8 bytes, never inside a character. */
function truncate(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let used = Buffer.byteLength('…');
  let kept = '';
  for (const character of text) {
    used += Buffer.byteLength(character);
    if (used > bytes) break;
    kept += character;
  }
  return `${kept}…`;
}
