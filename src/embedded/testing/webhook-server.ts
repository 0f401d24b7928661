// An HTTPS server for tests that plays the webhook of a cluster.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createAuthority } from '../../kube/pki.ts';
import type { Json } from './http.ts';

export interface WebhookServer {
  readonly url: string;
  /** Who vouches for it, as `clientConfig.caBundle` wants it. */
  readonly caBundle: string;
  close(): Promise<void>;
}

/** Starts one, which is also the service `hook` of the namespace default. No answer leaves the caller waiting. */
export async function startWebhookServer(
  answer: (path: string, review: Json) => object | number | undefined | Promise<object | number | undefined>,
): Promise<WebhookServer> {
  const authority = createAuthority({ commonName: 'hooks', days: 1 });
  const names = { dnsNames: ['localhost', 'hook.default.svc'], ipAddresses: ['127.0.0.1'] };
  const { certPem, keyPem } = authority.issue({ commonName: 'hook', ...names, days: 1, usage: 'server' });
  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    void text(request).then(async (body) => {
      const review = JSON.parse(body) as Json;
      const answered = await answer(new URL(request.url ?? '/', 'https://hook').pathname, review);
      if (typeof answered === 'number') return response.writeHead(answered).end('no');
      const uid = review['request']!['uid'];
      return answered && response.end(JSON.stringify({ ...review, response: { uid, ...answered } }));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caBundle: Buffer.from(authority.certPem).toString('base64'),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
