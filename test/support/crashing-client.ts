// A client of a process that crashes after a number of writes.
import type { Client } from '../../src/kube/client/client.ts';

const WRITES = new Set(['create', 'update', 'patch', 'delete']);

/** A client that sends and receives nothing after its last write: that is done, but its response is never seen. */
export function crashingClient(api: Client, process: { writesLeft: number }): Client {
  const pending = new Promise<never>(() => {});
  const isDead = (): boolean => process.writesLeft <= 0;
  const client: Client = new Proxy<Client>(api, {
    get(target, method: string) {
      if (method === 'flow') return () => client;
      const original = Reflect.get(target, method) as (...args: unknown[]) => unknown;
      return async (...args: unknown[]) => {
        if (isDead()) return pending;
        if (method === 'watch') {
          const onEvent = args[2] as (event: unknown) => void;
          args[2] = (event: unknown) => void (isDead() || onEvent(event));
        }
        const answer = await original.apply(target, args);
        if (WRITES.has(method)) process.writesLeft--;
        return isDead() ? pending : answer;
      };
    },
  });
  return client;
}
