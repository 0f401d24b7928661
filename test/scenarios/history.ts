// All that objects went through, version by version, in the order in which it was written: the resource versions of a
// cluster are one row, whatever the kind. Recorded by watching, so that a state that lasts for a moment counts too.
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
  readonly #over = new AbortController();
  readonly #watches: Promise<void>[] = [];

  /** Begins to record kinds. */
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
    this.#over.abort();
    await Promise.all(this.#watches);
  }

  async #follow(client: Client, kind: Kind, resourceVersion: string): Promise<void> {
    const { signal } = this.#over;
    let from = resourceVersion;
    while (!signal.aborted) {
      await client
        .watch(kind, { resourceVersion: from, signal }, ({ type, object }) => {
          from = object.metadata.resourceVersion!;
          if (type !== 'BOOKMARK') this.#note(object, type === 'DELETED');
        })
        .catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
    }
  }

  #note(object: AnyObject, isGone: boolean): void {
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

  /** What is wrong with saying that objects came to be like this one after the other; undefined when nothing is. */
  orderProblem(wanted: readonly AnyObject[]): string | undefined {
    const { versions } = this;
    let since = { at: 0n, what: 'the beginning' };
    for (const each of wanted) {
      const what = JSON.stringify(each);
      const turns = versions.filter(({ object, before }) => is(each, object) && !(before && is(each, before)));
      const next = turns.find(({ at }) => at >= since.at);
      if (next === undefined) return `${what} ${turns.length === 0 ? 'never was' : `was, but not after ${since.what}`}`;
      since = { at: next.at, what };
    }
    return undefined;
  }

  /**
   * What is wrong with saying that an object went through these phases and no others; undefined when nothing is. A
   * phase with a question mark may be left out: it lasts for a moment at most, and whoever is quicker skips it.
   */
  phasesProblem({ phases, ...object }: AnyObject): string | undefined {
    const all = this.versions.filter((version) => is(object, version.object)).map(({ object }) => phaseOf(object));
    const found = all.filter((phase, i) => phase !== undefined && phase !== all[i - 1]);
    const wanted = (phases as string[]).map((phase) =>
      phase.endsWith('?') ? `(${phase.slice(0, -1)} )?` : `${phase} `,
    );
    const isFound = new RegExp(`^${wanted.join('')}$`).test(found.map((phase) => `${phase} `).join(''));
    const show = (each: unknown): string => (each as string[]).join(', ');
    return isFound ? undefined : `${JSON.stringify(object)} was ${show(found)}, not ${show(phases)}`;
  }
}

function is(wanted: AnyObject, object: AnyObject): boolean {
  return wanted.kind === object.kind && difference(wanted, object) === undefined;
}

/** The phase that an object is in or, where it has none, the reason for being ready or not. */
function phaseOf({ status }: AnyObject & { status?: unknown }): string | undefined {
  const { phase, conditions = [] } = (status ?? {}) as {
    phase?: string;
    conditions?: readonly { type: string; reason?: string }[];
  };
  return phase ?? conditions.find(({ type }) => type === 'Ready')?.reason;
}
