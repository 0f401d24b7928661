// Serves the files of the page, compressed by the build. Files with a digest in their name never change.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { Asset, Assets } from '../assets/build.ts';
import { Refused } from '../refused.ts';

/** Serves a path. All view URLs serve the page itself. */
export function serveFile(
  request: IncomingMessage,
  response: ServerResponse,
  assets: Assets,
  path: string,
  headers: Readonly<Record<string, string>>,
): void {
  const isFile = path.startsWith('/assets/') || /\.[a-z]+$/.test(path);
  const asset = assets[isFile ? path : '/'];
  if (asset === undefined)
    throw new Refused(404, `there is no ${path}`, 'Reload the page: it may be of another version.');
  const cache = path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
  const common = { ...headers, etag: asset.etag, 'cache-control': cache, vary: 'accept-encoding' };
  if (request.headers['if-none-match'] === asset.etag) {
    response.writeHead(304, common).end();
    return;
  }
  const { encoding, body } = encoded(asset, request.headers['accept-encoding'] ?? '');
  response.writeHead(200, {
    ...common,
    'content-type': asset.type,
    'content-length': body.length,
    ...(encoding !== undefined && { 'content-encoding': encoding }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

function encoded({ br, gzip }: Asset, accepted: string): { readonly encoding?: string; readonly body: Buffer } {
  const takes = (name: string): boolean =>
    accepted.split(',').some((each) => new RegExp(`^\\s*${name}\\s*(;\\s*q=(?!0(\\.0*)?\\s*$).*)?$`).test(each));
  if (takes('br')) return { encoding: 'br', body: Buffer.from(br, 'base64') };
  if (takes('gzip')) return { encoding: 'gzip', body: Buffer.from(gzip, 'base64') };
  return { body: gunzipSync(Buffer.from(gzip, 'base64')) };
}
