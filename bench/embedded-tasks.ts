// The tasks that embedded.ts runs on both servers, through the same client.
import { defineKind, isTransient } from '../src/kube/index.ts';
import type { AnyObject, Client } from '../src/kube/index.ts';
import type { Server } from './embedded-servers.ts';
import { LineWatcher } from './line-watcher.ts';

const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });

export const OBJECTS = 10_000;
export const WATCHERS = 100;
export const EVENTS = 1_000;
const WATCHED = 100;

/** Namespaces: one with 10,000 objects, and a small one for single requests. */
const crowd = 'crowd';
const few = 'few';

function configMap(namespace: string, name: string, size = 1_000): AnyObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { text: 'x'.repeat(size) } };
}

/** Creates the namespaces and the 10,000 objects; returns the time for the objects in milliseconds. */
export async function fill(client: Client): Promise<number> {
  for (const name of [crowd, few]) {
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  await client.create(ConfigMap, configMap(few, 'one'));
  const started = performance.now();
  await inParallel(OBJECTS, 64, (index) => client.create(ConfigMap, configMap(crowd, `object-${index}`)));
  return performance.now() - started;
}

let names = 0;

/** Creates objects, one after the other. */
export async function creates(client: Client, count: number): Promise<void> {
  for (let index = 0; index < count; index++) await client.create(ConfigMap, configMap(few, `made-${names++}`));
}

/** Reads one object repeatedly. */
export async function gets(client: Client, count: number): Promise<void> {
  for (let index = 0; index < count; index++) await client.get(ConfigMap, { namespace: few, name: 'one' });
}

/** Changes one value repeatedly with merge patches. */
export async function mergePatches(client: Client, count: number): Promise<void> {
  for (let index = 0; index < count; index++) await touch(client, 'one');
}

/** Changes one value repeatedly with server-side apply. */
export async function applies(client: Client, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const body = { ...configMap(few, 'applied'), data: { text: 'x'.repeat(1_000), count: String(names++) } };
    await client.patch(
      ConfigMap,
      { namespace: few, name: 'applied' },
      { type: 'apply', body },
      { fieldManager: 'bench' },
    );
  }
}

/** Lists the 10,000 objects in pages, or all at once without a limit. */
export async function list(client: Client, limit?: number): Promise<void> {
  let found = 0;
  let next: string | undefined;
  do {
    const page = await client.list(ConfigMap, {
      namespace: crowd,
      ...(limit !== undefined && { limit }),
      ...(next !== undefined && { continue: next }),
    });
    found += page.items.length;
    next = page.continue;
  } while (next !== undefined);
  // A namespace may also have the ConfigMap kube-root-ca.crt.
  if (found < OBJECTS) throw new Error(`the list has ${found} objects, not ${OBJECTS}`);
}

/** The type of watcher: one that only counts lines, or our client, which parses events. */
export type Watching = 'lines' | 'client';

/** Opens watches; `fanOut` makes changes and resolves when all watchers have seen all changes. */
export async function openWatchers(
  { client, config }: Server,
  watching: Watching,
): Promise<{ fanOut(): Promise<void>; close(): void }> {
  const prefix = `${watching}-${names++}`;
  await inParallel(WATCHED, 16, (index) => client.create(ConfigMap, configMap(few, `${prefix}-${index}`, 100)));
  const { resourceVersion } = await client.list(ConfigMap, { namespace: few });
  let seen = 0;
  let all = Promise.withResolvers<void>();
  const see = (): void => {
    if (++seen === WATCHERS * EVENTS) all.resolve();
  };
  const fail = (error: Error): void => all.reject(error);
  const watchers = Array.from({ length: WATCHERS }, () =>
    watching === 'lines' ? new LineWatcher(config, few, see, fail) : new ClientWatcher(client, few, see, fail),
  );
  await Promise.all(watchers.map((watcher) => watcher.open(resourceVersion)));
  return {
    fanOut: async () => {
      seen = 0;
      all = Promise.withResolvers<void>();
      await inParallel(EVENTS, 32, (index) => touch(client, `${prefix}-${index % WATCHED}`));
      await all.promise;
    },
    close: () => {
      for (const watcher of watchers) watcher.close();
    },
  };
}

/** A watch of ConfigMaps through our client, which is resumed when the server ends it. */
class ClientWatcher {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #onEvent: () => void;
  readonly #onError: (error: Error) => void;
  readonly #abort = new AbortController();

  constructor(client: Client, namespace: string, onEvent: () => void, onError: (error: Error) => void) {
    this.#client = client;
    this.#namespace = namespace;
    this.#onEvent = onEvent;
    this.#onError = onError;
  }

  /** Resolves when the server has responded. */
  open(resourceVersion: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    void this.#watch(resourceVersion, resolve);
    return promise;
  }

  close(): void {
    this.#abort.abort();
  }

  async #watch(from: string, onOpen: () => void): Promise<void> {
    let version = from;
    const { signal } = this.#abort;
    while (!signal.aborted) {
      const options = { namespace: this.#namespace, resourceVersion: version, signal, onOpen };
      try {
        await this.#client.watch(ConfigMap, { ...options, omitForeignManagedFields: true }, ({ type, object }) => {
          version = object.metadata.resourceVersion ?? version;
          if (type !== 'BOOKMARK') this.#onEvent();
        });
      } catch (error) {
        if (!signal.aborted && !isTransient(error)) this.#onError(error as Error);
      }
    }
  }
}

/** Opens watches without events. */
export async function openIdleWatches(client: Client, count: number): Promise<() => void> {
  const abort = new AbortController();
  await inParallel(count, 50, () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const options = { namespace: 'default', resourceVersion: '', timeoutSeconds: 3_600, signal: abort.signal };
    client
      .watch(ConfigMap, { ...options, onOpen: resolve }, () => undefined)
      .catch((error: unknown) => (abort.signal.aborted ? undefined : reject(error)));
    return promise;
  });
  return () => abort.abort();
}

/** Changes one value of an object. */
function touch(client: Client, name: string): Promise<AnyObject> {
  const body = { data: { count: String(names++) } };
  return client.patch(ConfigMap, { namespace: few, name }, { type: 'merge', body });
}

/** Runs a function `count` times, `lanes` at a time. */
export async function inParallel(
  count: number,
  lanes: number,
  run: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
