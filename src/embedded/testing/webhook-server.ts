// An HTTPS server for tests that serves webhooks.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createAuthority } from '../../kube/pki.ts';
import type { Json } from './http.ts';

export interface WebhookServer {
  readonly url: string;
  /** The CA certificate for `clientConfig.caBundle`. */
  readonly caBundle: string;
  close(): Promise<void>;
}

/** Its certificate is also valid for the service `hook` in `default`. Without a response the caller keeps waiting. */
export async function startWebhookServer(
  respond: (path: string, review: Json) => object | number | undefined | Promise<object | number | undefined>,
): Promise<WebhookServer> {
  const authority = createAuthority({ commonName: 'hooks', days: 1 });
  const names = { dnsNames: ['localhost', 'hook.default.svc'], ipAddresses: ['127.0.0.1'] };
  const { certPem, keyPem } = authority.issue({ commonName: 'hook', ...names, days: 1, usage: 'server' });
  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    void text(request).then(async (body) => {
      const review = JSON.parse(body) as Json;
      const result = await respond(new URL(request.url ?? '/', 'https://hook').pathname, review);
      if (typeof result === 'number') return response.writeHead(result).end('no');
      const uid = review['request']!['uid'];
      return result && response.end(JSON.stringify({ ...review, response: { uid, ...result } }));
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
