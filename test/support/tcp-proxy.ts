// A TCP proxy on loopback that a test can freeze: connections stay open and no bytes pass, as in a network partition.
// Or it closes all connections for a while, as when the server is down.
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  freeze(): void;
  /** While true, closes all connections and accepts no others. */
  refuse(isRefusing: boolean): void;
  close(): Promise<void>;
}

/** Forwards a free port to `targetPort`. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let frozen = false;
  let refusing = false;
  const keep = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => other.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      other.destroy();
    });
    socket.on('data', (chunk) => {
      if (!frozen) other.write(chunk);
    });
  };
  const server = createServer((inbound) => {
    if (refusing) return void inbound.destroy();
    const outbound = connect(targetPort, '127.0.0.1');
    keep(inbound, outbound);
    keep(outbound, inbound);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    freeze: () => {
      frozen = true;
    },
    refuse(isRefusing) {
      refusing = isRefusing;
      if (isRefusing) for (const socket of sockets) socket.destroy();
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
