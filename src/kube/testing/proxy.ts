// A local proxy that understands CONNECT and nothing else. Used by the tests of the client.
import http from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface TestProxy {
  readonly url: string;
  /** The targets that it was asked to connect to, and the credentials sent. */
  readonly seen: { readonly target: string; readonly authorization: string | undefined }[];
  close(): Promise<void>;
}

/** Starts a proxy on a free port of 127.0.0.1; with `answer`, it refuses everything with that status line. */
export async function startProxy({ answer }: { readonly answer?: string } = {}): Promise<TestProxy> {
  const seen: { target: string; authorization: string | undefined }[] = [];
  const sockets = new Set<Socket>();
  const server = http.createServer();
  server.on('connect', ({ url = '', headers }: http.IncomingMessage, inner: Socket) => {
    seen.push({ target: url, authorization: headers['proxy-authorization'] });
    if (answer !== undefined) return inner.end(`HTTP/1.1 ${answer}\r\n\r\n`);
    const { hostname, port } = new URL(`http://${url}`);
    const outer = connect(Number(port || 80), hostname, () => {
      inner.write('HTTP/1.1 200 Connection established\r\n\r\n');
      inner.pipe(outer).pipe(inner);
    });
    for (const socket of [inner, outer]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
