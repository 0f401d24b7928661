// Acts as a Service: one port that forwards connections to its endpoints in turn. A test sets the endpoints, which may
// be out of date.
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface Service {
  readonly port: number;
  /** Ports on loopback. */
  readonly endpoints: Set<number>;
  close(): Promise<void>;
}

export async function startService(): Promise<Service> {
  const endpoints = new Set<number>();
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer((inbound) => {
    const targets = [...endpoints];
    const outbound = connect(targets[turn++ % targets.length]!, '127.0.0.1');
    for (const [socket, other] of [
      [inbound, outbound],
      [outbound, inbound],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on('error', () => other.destroy());
      socket.on('close', () => sockets.delete(socket));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    endpoints,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
