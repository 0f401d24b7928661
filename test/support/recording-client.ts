// A client that records the writes that the server accepted.
import type { Client } from '../../src/kube/client/client.ts';
import { keyOf } from '../../src/kube/objects.ts';
import type { AnyKind, KubeObject, Ref } from '../../src/kube/objects.ts';

/** A write that a server has accepted. */
export interface LoggedWrite {
  /** `Kind namespace/name` */
  readonly object: string;
  /** The object whose plan wrote it (`DynamicEnv shop/feature`), or another name of the author. */
  readonly by: string;
}

/** `Kind namespace/name` */
export const idOf = ({ kind }: Pick<AnyKind, 'kind'>, ref: Ref): string => `${kind} ${keyOf(ref)}`;

const WRITES = new Set(['create', 'update', 'patch', 'delete']);

/**
 * Adds each accepted write to the log, in the order in which they were sent: whoever writes because of another write
 * sends it later, although the first may be answered later.
 */
export function recordingClient(api: Client, log: LoggedWrite[], by: string): Client {
  const client: Client = new Proxy<Client>(api, {
    get(target, method: string) {
      if (method === 'flow') return () => client;
      const original = Reflect.get(target, method) as (...args: unknown[]) => unknown;
      return async (...args: unknown[]) => {
        if (!WRITES.has(method)) return original.apply(target, args);
        const [kind, about] = args as [AnyKind, Ref | KubeObject];
        const entry = { object: idOf(kind, 'metadata' in about ? about.metadata : about), by };
        log.push(entry);
        try {
          return await original.apply(target, args);
        } catch (error) {
          log.splice(log.indexOf(entry), 1);
          throw error;
        }
      };
    },
  });
  return client;
}
