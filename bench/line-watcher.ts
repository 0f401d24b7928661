// A watch of ConfigMaps that counts events without parsing them. A hundred real clients would use more CPU than the
// server, and hide the difference between two servers. Used by embedded-tasks.ts.
import { Agent, get } from 'node:https';
import type { ClientRequest } from 'node:http';
import type { ConnectConfig } from '../src/kube/index.ts';
import { readBody, forWatches } from '../src/kube/client/http/watch-connection.ts';
import { eachLine, Lines } from '../src/kube/client/watch-stream.ts';

export class LineWatcher {
  readonly #config: ConnectConfig;
  readonly #namespace: string;
  readonly #onEvent: () => void;
  readonly #onError: (error: Error) => void;
  #request: ClientRequest | undefined;
  #closed = false;

  constructor(config: ConnectConfig, namespace: string, onEvent: () => void, onError: (error: Error) => void) {
    this.#config = config;
    this.#namespace = namespace;
    this.#onEvent = onEvent;
    this.#onError = onError;
  }

  /** Resolves when the server has responded. If the server ends the watch, it is resumed. */
  open(resourceVersion: string): Promise<void> {
    const { server, caPem: ca, certPem: cert, keyPem: key } = this.#config;
    const path = `/api/v1/namespaces/${this.#namespace}/configmaps?watch=true&resourceVersion=${resourceVersion}`;
    const agent = forWatches(new Agent({ ca, cert, key }));
    return new Promise((resolve) => {
      this.#request = get(`${server}${path}`, { agent }, (response) => {
        resolve();
        let last: Buffer | undefined;
        const lines = new Lines((some) => {
          eachLine(some, (line) => {
            last = line;
            this.#onEvent();
          });
          last = last && Buffer.from(last);
        });
        readBody(response, (chunk) => lines.push(chunk));
        response.on('error', () => undefined);
        response.on('close', () => {
          if (!this.#closed) void this.open(last === undefined ? resourceVersion : versionIn(last));
        });
      }).on('error', (error) => {
        if (!this.#closed) this.#onError(error);
      });
    });
  }

  close(): void {
    this.#closed = true;
    this.#request?.destroy();
  }
}

function versionIn(line: Buffer): string {
  const { object } = JSON.parse(line.toString()) as { object: { metadata: { resourceVersion: string } } };
  return object.metadata.resourceVersion;
}
