// Tests when the conversion webhook is called, and in which order watchers get converted events.
// test/differential/corpus/conversions.ts compares the results with those of the real server.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startEmbedded } from '../server.ts';
import type { Embedded } from '../server.ts';
import { testClient, textIn } from '../testing/http.ts';
import type { Json, TestClient } from '../testing/http.ts';
import { startWebhookServer } from '../testing/webhook-server.ts';
import type { WebhookServer } from '../testing/webhook-server.ts';

interface Review {
  readonly desiredAPIVersion: string;
  readonly objects: readonly Json[];
}

let embedded: Embedded;
let client: TestClient;
let hook: WebhookServer;
/** The names of the objects of every review, in order. */
let reviews: string[][] = [];
/** Runs before a review is answered; may make it fail. */
let before: (names: readonly string[]) => Promise<'fail' | undefined> = () => Promise.resolve(undefined);

beforeAll(async () => {
  hook = await startWebhookServer(async (_path, review) => {
    const { desiredAPIVersion, objects } = review['request'] as unknown as Review;
    const names = objects.map((object) => textIn(object['metadata']!['name']));
    reviews.push(names);
    if ((await before(names)) === 'fail') return 500;
    const convertedObjects = objects.map((object) => ({ ...object, apiVersion: desiredAPIVersion }));
    return { convertedObjects, result: { status: 'Success' } };
  });
  embedded = await startEmbedded({
    simulation: false,
    hooks: { resolveService: ({ name }) => (name === 'hook' ? hook.url : undefined) },
  });
  client = testClient(embedded);
});

afterAll(async () => {
  client.close();
  await embedded.stop();
  await hook.close();
});

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const inV1 = '/apis/example.com/v1/namespaces/default/widgets';
const inV2 = '/apis/example.com/v2/namespaces/default/widgets';
const schema = {
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
  },
};

/** Recreates the definition, which also deletes all objects. */
async function recreateDefinition(): Promise<void> {
  before = () => Promise.resolve(undefined);
  await client.call('DELETE', `${definitions}/widgets.example.com`);
  await expect.poll(async () => (await client.get(`${definitions}/widgets.example.com`)).code).toBe(404);
  const { code, text: answer } = await client.post(definitions, {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        { name: 'v1', served: true, storage: true, schema },
        { name: 'v2', served: true, storage: false, schema },
      ],
      conversion: {
        strategy: 'Webhook',
        webhook: {
          clientConfig: { service: { name: 'hook', namespace: 'default', path: '/convert' }, caBundle: hook.caBundle },
          conversionReviewVersions: ['v1'],
        },
      },
    },
  });
  expect([code, answer]).toEqual([201, expect.anything()]);
  reviews = [];
}

beforeEach(recreateDefinition);

async function make(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const { code } = await client.post(inV1, {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name },
      spec: { size: 1 },
    });
    expect(code).toBe(201);
  }
}

function resize(name: string, size: number): Promise<unknown> {
  return client.call('PATCH', `${inV1}/${name}`, { spec: { size } }, { type: 'application/merge-patch+json' });
}

test('the storage version is served without calling the webhook', async () => {
  await make('a');
  await client.get(inV1);
  await resize('a', 2);
  expect(reviews).toEqual([]);
});

test('a list is converted in one review, and cached', async () => {
  await make('a', 'b', 'c');
  expect((await client.get(inV2)).body['items']).toHaveLength(3);
  expect(reviews).toEqual([['a', 'b', 'c']]);
  await resize('b', 2);
  await client.get(inV2);
  expect(reviews).toEqual([['a', 'b', 'c'], ['b']]);
});

test('a get calls the webhook again, because it may have changed', async () => {
  await make('a');
  await client.get(`${inV2}/a`);
  await client.get(`${inV2}/a`);
  expect(reviews).toEqual([['a'], ['a']]);
});

test('a list works with a webhook that can convert only single objects', async () => {
  await make('a', 'b');
  before = (names) => Promise.resolve(names.length > 1 ? 'fail' : undefined);
  const { code, body } = await client.get(inV2);
  expect([code, body['items']]).toEqual([200, expect.objectContaining({ length: 2 })]);
  expect(reviews).toEqual([['a', 'b'], ['a'], ['b']]);
});

test('a long list is converted in several reviews', async () => {
  const names = Array.from({ length: 150 }, (_, index) => `w-${String(index).padStart(3, '0')}`);
  await make(...names);
  expect((await client.get(inV2)).body['items']).toHaveLength(150);
  expect(reviews.map((review) => review.length)).toEqual([100, 50]);
});

test('watchers of another version get all events in order from a slow webhook, and share conversions', async () => {
  await make('a');
  const first = await client.watch(`${inV2}?watch=true`);
  const second = await client.watch(`${inV2}?watch=true`);
  await expect.poll(() => reviews.length).toBe(1);
  const slow = Promise.withResolvers<undefined>();
  before = () => slow.promise;
  for (let size = 2; size <= 6; size++) await resize('a', size);
  await client.call('DELETE', `${inV1}/a`);
  before = () => Promise.resolve(undefined);
  slow.resolve(undefined);
  for (const watcher of [first, second]) {
    const events = await watcher.take(7);
    expect(events.map(({ type, object }) => [type, object['apiVersion'], object['spec']!['size']])).toEqual([
      ['ADDED', 'example.com/v2', 1],
      ...[2, 3, 4, 5, 6].map((size) => ['MODIFIED', 'example.com/v2', size]),
      ['DELETED', 'example.com/v2', 6],
    ]);
    watcher.close();
  }
  // One review for the existing object, one for the first event, one for all events that arrived meanwhile.
  expect(reviews.map((review) => review.length)).toEqual([1, 1, 5]);
});

test('a watch ends with an ERROR event when the conversion fails', async () => {
  await make('a');
  const watcher = await client.watch(`${inV2}?watch=true`);
  expect(await watcher.summary(1)).toEqual(['ADDED a']);
  before = () => Promise.resolve('fail');
  await resize('a', 2);
  const why =
    'conversion webhook for example.com/v1, Kind=Widget failed: an error on the server ("no") has prevented the request ' +
    'from succeeding';
  expect(await watcher.rest()).toMatchObject([{ type: 'ERROR', object: { code: 500, message: why } }]);
});
