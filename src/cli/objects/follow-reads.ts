// Watches the objects that a pure function reads: `describe -w` shows a tree again whenever something in it changes.
// Every read has its own watch and selection, so that permissions in one namespace are enough.
import type { ObjectReader } from '../../api/description/reader.ts';
import type { Client, Selection } from '../../kube/client/client.ts';
import { systemClock } from '../../kube/clock.ts';
import { isExpired, isForbidden, isTransient } from '../../kube/errors.ts';
import { identityOf, keyOf } from '../../kube/objects.ts';
import type { Kind, KubeObject, Ref } from '../../kube/objects.ts';
import { runReflector } from '../../kube/tables/reflector.ts';
import { Table } from '../../kube/tables/table.ts';

/** Changes within this time are shown together. */
const BATCH_MS = 50;

/**
 * Computes a result from objects of the cluster and shows it, again whenever one of them changes, until `show` returns
 * true or the signal aborts.
 */
export async function followReads<R>(
  client: Client,
  compute: (read: ObjectReader) => R,
  signal: AbortSignal,
  show: (result: R) => boolean | undefined,
): Promise<void> {
  const following = new Map<string, Followed>();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  const interrupt = (): void => failed.reject(signal.reason);
  if (signal.aborted) interrupt();
  signal.addEventListener('abort', interrupt);
  let changed = Promise.withResolvers<void>();
  const onChange = (): void => changed.resolve();
  try {
    for (;;) {
      const used = new Set<string>();
      const follow = <T extends KubeObject>(query: string, kind: Kind<T>, selection: Selection): Followed<T> => {
        used.add(query);
        const known = following.get(query) as Followed<T> | undefined;
        if (known !== undefined) return known;
        const started = new Followed(client, kind, selection, { onChange, onError: failed.reject });
        following.set(query, started as unknown as Followed);
        return started;
      };
      const result = compute(readerOf(follow));
      const isComplete = [...used].every((query) => following.get(query)!.isKnown);
      if (isComplete) {
        if (show(result)) return;
        await stop([...following.keys()].filter((query) => !used.has(query)));
      }
      await Promise.race([changed.promise, failed.promise]);
      await Promise.race([new Promise((resolve) => setTimeout(resolve, BATCH_MS)), failed.promise]);
      changed = Promise.withResolvers<void>();
    }
  } finally {
    signal.removeEventListener('abort', interrupt);
    await stop([...following.keys()]);
  }

  async function stop(queries: readonly string[]): Promise<void> {
    const ended = queries.map((query) => following.get(query)!.stop());
    for (const query of queries) following.delete(query);
    await Promise.all(ended);
  }
}

type Follow = <T extends KubeObject>(query: string, kind: Kind<T>, selection: Selection) => Followed<T>;

function readerOf(follow: Follow): ObjectReader {
  return {
    get<T extends KubeObject>(kind: Kind<T>, ref: Ref): T | 'hidden' | undefined {
      const { name, namespace } = ref;
      const selection = { ...(namespace !== undefined && { namespace }), fieldSelector: `metadata.name=${name}` };
      const followed = follow(identityOf(kind, ref), kind, selection);
      return followed.isHidden ? 'hidden' : followed.table.get(keyOf(ref));
    },
    list<T extends KubeObject>(kind: Kind<T>, selection: Selection): readonly T[] {
      const query = `${identityOf(kind, { name: '' })} ${JSON.stringify(selection)}`;
      return follow(query, kind, selection).table.list();
    },
  };
}

interface Listeners {
  readonly onChange: () => void;
  readonly onError: (error: unknown) => void;
}

/** The result of one read, kept up to date by a watch. */
class Followed<T extends KubeObject = KubeObject> {
  readonly table: Table<T>;
  /** We may not read it. */
  isHidden = false;
  readonly #ending = new AbortController();
  readonly #running: Promise<unknown>;

  constructor(client: Client, kind: Kind<T>, selection: Selection, { onChange, onError }: Listeners) {
    this.table = new Table<T>(kind, selection);
    const { signal } = this.#ending;
    const reflecting = runReflector({
      client,
      table: this.table,
      clock: systemClock,
      signal,
      onError: (error) => {
        if (isForbidden(error)) {
          this.isHidden = true;
          onChange();
        } else if (!isTransient(error) && !isExpired(error)) onError(error);
      },
    });
    this.#running = Promise.allSettled([reflecting, this.#notify(onChange)]);
  }

  /** Whether the result is known. */
  get isKnown(): boolean {
    return this.isHidden || this.table.synced;
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  async #notify(onChange: () => void): Promise<void> {
    const { signal } = this.#ending;
    await this.table.whenSynced(signal);
    onChange();
    for await (const { initial } of this.table.map.subscribe({ signal, state: false })) {
      if (!initial) onChange();
    }
  }
}
