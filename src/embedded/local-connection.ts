// A connection to the server from within its own process. HTTP as from everybody else, but nothing is encrypted and no
// network is passed, which would take longer than most requests.
import { duplexPair } from 'node:stream';
import type { Duplex } from 'node:stream';

/** What HTTP asks of a socket, and only one of a network has. */
function likeSocket(end: Duplex): Duplex {
  const same = (): Duplex => end;
  const words = { setTimeout: same, setKeepAlive: same, setNoDelay: same, ref: same, unref: same };
  return Object.assign(end, words, { remoteAddress: '127.0.0.1' });
}

/** The two ends of a connection. */
export function localConnection(): { readonly near: Duplex; readonly far: Duplex } {
  const [near, far] = duplexPair();
  return { near: likeSocket(near), far: likeSocket(far) };
}
