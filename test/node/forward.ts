// Forwards connections between TCP ports and Unix sockets. The latter work across network namespaces: through one, the
// node's API server is reached from outside.
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';

/** A port on loopback, or a socket's path. */
export type Endpoint = { readonly port: number } | { readonly path: string };

export interface Forwarder {
  /** The port that it listens on; 0 for a socket. */
  readonly port: number;
  close(): void;
}

/** Forwards connections to `from` on to `to`. Port 0 stands for a free one. */
export async function forward(from: Endpoint, to: Endpoint): Promise<Forwarder> {
  const server: Server = createServer((near) => {
    const far = connect('port' in to ? { port: to.port, host: '127.0.0.1' } : to);
    near.pipe(far).pipe(near);
    const drop = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) socket.on('error', drop).on('close', drop);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen('port' in from ? { port: from.port, host: '127.0.0.1' } : from, resolve);
  });
  server.unref();
  const address = server.address() as AddressInfo | string;
  return { port: typeof address === 'string' ? 0 : address.port, close: () => server.close() };
}
