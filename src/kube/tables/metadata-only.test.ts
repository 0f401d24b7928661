// What a table of metadata costs: the server leaves out the rest of the objects, so that it is neither sent nor parsed.
import { expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { connect } from '../client/connect.ts';
import { systemClock } from '../clock.ts';
import { defineKind } from '../objects.ts';
import { json, startServer } from '../testing/http-server.ts';
import { defineTable, Tables } from './tables.ts';

const Pod = defineKind('v1', 'Pod', 'pods');

test.each([
  [
    'metadata',
    { metadataOnly: true },
    [
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
    ],
  ],
  ['whole objects', {}, ['application/json', 'application/json']],
])('a table of %s asks the server for no more, in its list and in its watch', async (_what, options, accepted) => {
  const server = await startServer();
  server.handle((response, { url }) => {
    if (url.includes('watch=true')) response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    else json(response, { apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '1' }, items: [] });
  });
  const client = connect({ server: server.url });
  const ending = new AbortController();
  const tables = new Tables([defineTable(Pod, options)]);
  const running = tables.run({ client, clock: systemClock, signal: ending.signal });
  try {
    const requests = () => server.seen.filter(({ url }) => url.startsWith('/api/v1/pods'));
    await until(() => requests().length === 2);
    expect(requests().map(({ headers }) => headers.accept)).toEqual(accepted);
  } finally {
    ending.abort();
    await running;
    client.close();
    await server.close();
  }
});
