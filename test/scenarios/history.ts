// Records every version of objects, in the order in which they were written: resource versions of a cluster are ordered
// across kinds. It watches, so that it also sees states that last only for a moment.
import type { Client } from '../../src/kube/client/client.ts';
import type { AnyObject, Kind } from '../../src/kube/objects.ts';
import { difference } from './difference.ts';

interface Version {
  readonly at: bigint;
  readonly object: AnyObject & { readonly gone?: true };
  readonly before: AnyObject | undefined;
}

export class History {
  readonly #versions: Version[] = [];
  readonly #latest = new Map<string, AnyObject>();
  readonly #stopped = new AbortController();
  readonly #watches: Promise<void>[] = [];

  /** Starts to record kinds. */
  static async record(client: Client, kinds: readonly Kind[]): Promise<History> {
    const history = new History();
    await Promise.all(
      kinds.map(async (kind) => {
        const { items, resourceVersion } = await client.list(kind);
        for (const object of items) history.#latest.set(object.metadata.uid!, object);
        history.#watches.push(history.#follow(client, kind, resourceVersion));
      }),
    );
    return history;
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#watches);
  }

  async #follow(client: Client, kind: Kind, resourceVersion: string): Promise<void> {
    const { signal } = this.#stopped;
    let from = resourceVersion;
    while (!signal.aborted) {
      await client
        .watch(kind, { resourceVersion: from, signal }, ({ type, object }) => {
          from = object.metadata.resourceVersion!;
          if (type !== 'BOOKMARK') this.#add(object, type === 'DELETED');
        })
        .catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
    }
  }

  #add(object: AnyObject, isGone: boolean): void {
    const uid = object.metadata.uid!;
    const before = this.#latest.get(uid);
    this.#latest.set(uid, object);
    const at = BigInt(object.metadata.resourceVersion!);
    this.#versions.push({ at, object: isGone ? { ...object, gone: true } : object, before });
  }

  /** All versions, in order. */
  get versions(): readonly Version[] {
    return this.#versions.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  }

  /** Undefined if objects reached these states one after the other, else the problem. */
  orderProblem(expected: readonly AnyObject[]): string | undefined {
    const { versions } = this;
    let since = { at: 0n, what: 'the beginning' };
    for (const each of expected) {
      const what = JSON.stringify(each);
      const turns = versions.filter(({ object, before }) => is(each, object) && !(before && is(each, before)));
      const next = turns.find(({ at }) => at >= since.at);
      if (next === undefined) return `${what} ${turns.length === 0 ? 'never was' : `was, but not after ${since.what}`}`;
      since = { at: next.at, what };
    }
    return undefined;
  }

  /**
   * Undefined if an object went through exactly these phases, else the problem. A phase with a question mark is
   * optional: it lasts only for a moment, and may be skipped.
   */
  phasesProblem({ phases, ...object }: AnyObject): string | undefined {
    const all = this.versions.filter((version) => is(object, version.object)).map(({ object }) => phaseOf(object));
    const found = all.filter((phase, i) => phase !== undefined && phase !== all[i - 1]);
    const expected = (phases as string[]).map((phase) =>
      phase.endsWith('?') ? `(${phase.slice(0, -1)} )?` : `${phase} `,
    );
    const isFound = new RegExp(`^${expected.join('')}$`).test(found.map((phase) => `${phase} `).join(''));
    const show = (each: unknown): string => (each as string[]).join(', ');
    return isFound ? undefined : `${JSON.stringify(object)} was ${show(found)}, not ${show(phases)}`;
  }
}

function is(expected: AnyObject, object: AnyObject): boolean {
  return expected.kind === object.kind && difference(expected, object) === undefined;
}

/** The phase of an object or, without one, the reason of its Ready condition. */
function phaseOf({ status }: AnyObject & { status?: unknown }): string | undefined {
  const { phase, conditions = [] } = (status ?? {}) as {
    phase?: string;
    conditions?: readonly { type: string; reason?: string }[];
  };
  return phase ?? conditions.find(({ type }) => type === 'Ready')?.reason;
}
