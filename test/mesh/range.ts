// Addresses on loopback that one mesh has for itself, so that meshes can run side by side: 127.NN.0.0/16.
import { createServer } from 'node:net';

/** The network of the clusters' pods, as its addresses begin. */
export const POD_NETWORK = '10.244.';

export interface LoopbackRange {
  /** How its addresses begin: as long as POD_NETWORK, so that one can stand in place of the other. */
  readonly prefix: string;
  /** An address for something that is no pod. */
  next(): string;
  release(): void;
}

/** Takes a range that nobody else on this machine has. The system gives it back when this process ends. */
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
