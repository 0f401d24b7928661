// A request of the routing model as people write it, so that it can be tried.
import type { Request } from '../../traffic/index.ts';
import type { TriedRequest } from '../data.ts';

export function triedRequestOf({
  method = 'GET',
  scheme = 'http',
  host,
  port,
  path,
  headers = {},
  source,
}: Request): TriedRequest {
  const name = host.replace(/:\d*$/, '');
  const address = port === (scheme === 'https' ? 443 : 80) ? name : `${name}:${port}`;
  const origin =
    'gateway' in source
      ? { gateway: source.gateway }
      : { from: { namespace: source.namespace, ...(source.labels && { labels: source.labels }) } };
  return {
    method,
    url: `${scheme}://${address}${path}`,
    headers: { ...(host !== address && { host }), ...headers },
    ...origin,
  };
}
