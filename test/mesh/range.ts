// A range of loopback addresses for each mesh, so that meshes can run side by side: 127.NN.0.0/16.
import { createServer } from 'node:net';

/** The prefix of the pod addresses of test clusters. */
export const POD_NETWORK = '10.244.';

export interface LoopbackRange {
  /** The prefix of its addresses: as long as POD_NETWORK, so that one can replace the other in a stream. */
  readonly prefix: string;
  /** A new address for anything but a pod. */
  next(): string;
  release(): void;
}

/** Claims a range that no other mesh on this machine uses. The claim ends with this process. */
export async function claimRange(): Promise<LoopbackRange> {
  for (let number = 24; number < 100; number++) {
    const prefix = `127.${number}.`;
    const claim = await listen(`${prefix}255.255`);
    if (claim === undefined) continue;
    let last = 0;
    return { prefix, next: () => `${prefix}255.${++last}`, release: () => claim.close() };
  }
  throw new Error('every range of loopback addresses from 127.24.0.0/16 to 127.99.0.0/16 is taken by another mesh');
}

const CLAIM_PORT = 15_099;

function listen(host: string): Promise<{ close(): void } | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer().unref();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(CLAIM_PORT, host, () => resolve(server));
  });
}
