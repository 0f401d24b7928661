// Leader election with a Lease, so that only one of several processes plans and writes. The manager runs it.
//
// Clocks of different machines are never compared: a lease counts as expired when this process has seen no change of it
// for as long as the lease says, by its own monotonic clock. The holder stops acting as the leader at the renew
// deadline, which is before anybody else may take over.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client } from './client/client.ts';
import { delay } from './clock.ts';
import type { Clock } from './clock.ts';
import { isAlreadyExists, isConflict, isNotFound } from './errors.ts';
import { microTime } from './times.ts';
import { defineKind, keyOf } from './objects.ts';
import type { KubeObject } from './objects.ts';

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

export const Lease = defineKind<Lease>('coordination.k8s.io/v1', 'Lease', 'leases');

export interface LeaderElectorOptions {
  readonly client: Client;
  readonly namespace: string;
  readonly name: string;
  /** Our identity; must be unique. Host name and a random id by default. */
  readonly identity?: string;
  readonly clock: Clock;
  /** How long others wait, without seeing a renewal, before they take over. */
  readonly leaseDurationMs?: number;
  /** How long the holder acts without a successful renewal. */
  readonly renewDeadlineMs?: number;
  readonly retryPeriodMs?: number;
  /** Leases for whose holders to wait although ours is free: asked before and after each attempt to acquire it. */
  readonly leasesElsewhere?: (lease: string, signal: AbortSignal) => Promise<readonly Lease[]>;
  /** From 0 up to 1. */
  readonly random?: () => number;
  readonly onElected: () => void;
  /** The lease was lost; in-flight writes can't be undone, so the process should end. Not called on a normal stop. */
  readonly onLost: () => void;
  /** Called with the holder of the lease, when another one is first seen and whenever it changes. */
  readonly onWaiting?: (holder: string) => void;
  /** Called for every failed attempt; the elector retries by itself. */
  readonly onError?: (error: unknown) => void;
}

/** A lease as last seen, and when its current spec was first seen. */
interface Seen {
  readonly lease: Lease;
  readonly record: string;
  readonly at: number;
}

/** Limits the time of a request: many short ones in a row may take longer than one that gets no answer. */
type InTime = <T>(request: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** Retries are spread by up to this fraction of the period, so that processes started together do not stay in step. */
const JITTER = 0.2;

export class LeaderElector {
  readonly identity: string;
  readonly #options: LeaderElectorOptions;
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #deadlineMs: number;
  readonly #retryMs: number;
  #seen: Seen | undefined;
  /** The leases elsewhere, by key. */
  #elsewhere: ReadonlyMap<string, Seen> = new Map();
  /** The last other holder that was seen. */
  #holder: string | undefined;
  /** Monotonic time of the last successful renewal, taken before it was sent; undefined while not elected. */
  #renewed: number | undefined;

  constructor(options: LeaderElectorOptions) {
    const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
    if (leaseDurationMs <= renewDeadlineMs) {
      throw new RangeError(
        `leaseDurationMs (${leaseDurationMs}) must be greater than renewDeadlineMs (${renewDeadlineMs}): ` +
          'the holder must give up before others may take over',
      );
    }
    if (renewDeadlineMs <= retryPeriodMs * (1 + JITTER)) {
      throw new RangeError(
        `renewDeadlineMs (${renewDeadlineMs}) must be greater than 1.2 times retryPeriodMs (${retryPeriodMs}): ` +
          'there must be time for a second try',
      );
    }
    this.identity = options.identity ?? `${hostname()}_${randomUUID()}`;
    this.#options = options;
    this.#clock = options.clock;
    this.#leaseMs = leaseDurationMs;
    this.#deadlineMs = renewDeadlineMs;
    this.#retryMs = retryPeriodMs;
  }

  /** Whether this process may act as the leader at this moment. Check it before each write. */
  leading(): boolean {
    return this.#remaining() > 0;
  }

  /**
   * Campaigns, and renews once elected. Returns when the lease is lost, or when the signal aborts, having released the
   * lease. Work that needs the lease must have ended before the signal aborts.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { random = Math.random, onElected, onLost } = this.#options;
    while (!signal.aborted && !(await this.#attempt(signal, Infinity))) {
      await delay(this.#clock, this.#retryMs * (1 + JITTER * random()), signal);
    }
    if (!signal.aborted) {
      onElected();
      await this.#hold(signal);
    }
    const lost = !signal.aborted;
    this.#renewed = undefined;
    if (lost) onLost();
    // Also if the stop came after the lease was acquired and before we led.
    else if (this.#seen?.lease.spec?.holderIdentity === this.identity) await this.#release();
  }

  /** Renews until the signal aborts or the deadline passes. */
  async #hold(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.leading()) {
      await delay(this.#clock, Math.min(this.#retryMs, this.#remaining()), signal);
      if (!signal.aborted && this.leading()) await this.#attempt(signal, this.#remaining());
    }
  }

  /** Milliseconds until we must stop acting as the leader. */
  #remaining(): number {
    return this.#renewed === undefined ? 0 : this.#renewed + this.#deadlineMs - this.#clock.monotonic();
  }

  /** Tries once to acquire or renew the lease. Returns whether that worked. */
  async #attempt(signal: AbortSignal, withinMs: number): Promise<boolean> {
    const end = this.#clock.monotonic() + withinMs;
    try {
      return await this.#acquireOrRenew((request) => this.#inTime(request, end, signal));
    } catch (error) {
      if (!signal.aborted) this.#options.onError?.(error);
      return false;
    }
  }

  async #inTime<T>(request: (signal: AbortSignal) => Promise<T>, end: number, signal: AbortSignal): Promise<T> {
    const timeout = new AbortController();
    const timeoutMs = Math.min(Math.max(this.#deadlineMs / 2, 1000), end - this.#clock.monotonic());
    const timer = this.#clock.setTimeout(
      () => timeout.abort(new Error(`no answer about the lease ${this.#options.name} within ${timeoutMs} ms`)),
      timeoutMs,
    );
    try {
      return await request(AbortSignal.any([signal, timeout.signal]));
    } finally {
      timer.cancel();
    }
  }

  async #acquireOrRenew(inTime: InTime): Promise<boolean> {
    const known = this.#seen?.lease;
    if (this.leading() && known) {
      const sent = this.#clock.monotonic();
      try {
        const { client } = this.#options;
        return this.#won(await inTime((signal) => client.update(Lease, this.#claim(known), { signal })), sent);
      } catch (error) {
        if (!isConflict(error) && !isNotFound(error)) throw error;
      }
    }
    const seen = await inTime((signal) => this.#read(signal));
    if (seen && !this.#isFree(seen)) {
      // Somebody else holds it: if we were the holder, we no longer are.
      this.#renewed = undefined;
      this.#waitFor(seen.lease.spec?.holderIdentity);
      return false;
    }
    if (await inTime((signal) => this.#isHeldElsewhere(signal))) return false;
    const sent = this.#clock.monotonic();
    const acquired = await inTime((signal) => this.#acquire(seen?.lease, signal));
    if (acquired === undefined) return false;
    // Two processes may both have asked before either had acquired the lease of its namespace: now at least one sees it.
    if (await inTime((signal) => this.#isHeldElsewhere(signal))) {
      this.#renewed = undefined;
      await this.#release();
      return false;
    }
    return this.#won(acquired, sent);
  }

  /** Writes the lease with us as its holder; undefined if another process was faster. */
  async #acquire(lease: Lease | undefined, signal: AbortSignal): Promise<Lease | undefined> {
    const { client } = this.#options;
    const claim = this.#claim(lease);
    try {
      const answer = lease ? client.update(Lease, claim, { signal }) : client.create(Lease, claim, { signal });
      const acquired = await answer;
      this.#see(acquired);
      return acquired;
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error)) return undefined;
      throw error;
    }
  }

  async #isHeldElsewhere(signal: AbortSignal): Promise<boolean> {
    const { name, leasesElsewhere } = this.#options;
    const leases = (await leasesElsewhere?.(name, signal)) ?? [];
    const before = this.#elsewhere;
    const byKey = leases.map((lease) => [keyOf(lease.metadata), lease] as const);
    this.#elsewhere = new Map(byKey.map(([key, lease]) => [key, this.#seenAs(lease, before.get(key))]));
    for (const [key, seen] of this.#elsewhere) {
      if (this.#isFree(seen)) continue;
      this.#waitFor(`${seen.lease.spec?.holderIdentity} (Lease ${key})`);
      return true;
    }
    return false;
  }

  #waitFor(holder = ''): void {
    if (holder === this.#holder) return;
    this.#holder = holder;
    this.#options.onWaiting?.(holder);
  }

  async #read(signal: AbortSignal): Promise<Seen | undefined> {
    const { client, namespace, name } = this.#options;
    try {
      return this.#see(await client.get(Lease, { namespace, name }, { signal }));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #see(lease: Lease): Seen {
    return (this.#seen = this.#seenAs(lease, this.#seen));
  }

  #seenAs(lease: Lease, before: Seen | undefined): Seen {
    const record = JSON.stringify(lease.spec ?? {});
    return { lease, record, at: before?.record === record ? before.at : this.#clock.monotonic() };
  }

  /** An answer that arrives after the renew deadline does not make us the leader. */
  #won(lease: Lease, sent: number): boolean {
    this.#see(lease);
    this.#renewed = sent;
    return this.leading();
  }

  #isFree({ lease: { spec }, at }: Seen): boolean {
    if (!spec?.holderIdentity || spec.holderIdentity === this.identity) return true;
    const durationMs = (spec.leaseDurationSeconds ?? 0) * 1000;
    return this.#clock.monotonic() - at > durationMs;
  }

  /** The lease with us as its holder; all other fields are kept. */
  #claim(lease: Lease | undefined): Lease {
    const { namespace, name } = this.#options;
    const now = microTime(this.#clock.now());
    const base: Lease = lease ?? { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace } };
    const ours = lease?.spec?.holderIdentity === this.identity;
    return {
      ...base,
      spec: {
        ...base.spec,
        holderIdentity: this.identity,
        leaseDurationSeconds: Math.ceil(this.#leaseMs / 1000),
        acquireTime: ours ? (base.spec?.acquireTime ?? now) : now,
        renewTime: now,
        leaseTransitions: ours
          ? (base.spec?.leaseTransitions ?? 0)
          : lease
            ? (base.spec?.leaseTransitions ?? 0) + 1
            : 0,
      },
    };
  }

  /** Releases the lease, so that the next holder need not wait for it to expire. */
  async #release(): Promise<void> {
    const { client, onError } = this.#options;
    const timeoutMs = Math.max(this.#deadlineMs / 2, 1000);
    try {
      try {
        this.#see(await client.update(Lease, this.#released(this.#seen!.lease), { timeoutMs }));
      } catch (error) {
        // The stop may have aborted a renewal that the server has carried out nevertheless.
        const seen = isConflict(error) ? await this.#read(AbortSignal.timeout(timeoutMs)) : undefined;
        if (seen?.lease.spec?.holderIdentity !== this.identity) throw error;
        this.#see(await client.update(Lease, this.#released(seen.lease), { timeoutMs }));
      }
    } catch (error) {
      onError?.(error);
    }
  }

  #released(lease: Lease): Lease {
    const now = microTime(this.#clock.now());
    const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
    return { ...lease, spec };
  }
}
