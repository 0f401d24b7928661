// Watches: replay, selectors, bookmarks, initial events, and versions that are too old.
import { configMap, core, del, get, metadataType, patch, post, scenario, tableType, watch } from '../scenario.ts';

const maps = core('configmaps');
const a = core('configmaps', 'a');
const start = get(maps, { keep: { start: 'metadata.resourceVersion' }, only: ['kind'] });
const since = { resourceVersion: '<start>' };
const mine = { labelSelector: 'watched' };
const map = (name: string, watched = 'yes'): object => configMap(name, { k: 'v' }, { labels: { watched } });

export const watches = [
  scenario(
    'a watch replays events since a resource version',
    start,
    post(maps, map('a'), { only: ['kind'] }),
    patch('merge', a, { data: { k: 'w' } }, { only: ['kind'] }),
    del(a, undefined, { only: ['kind'] }),
    watch(maps, 3, since),
    watch(maps, 3, { ...since, fieldSelector: 'metadata.name=a' }),
    watch(maps, 3, { ...since, fieldSelector: 'metadata.name=b' }),
    watch(a, 3, since),
    watch('/api/v1/watch/namespaces/<ns>/configmaps', 3, since),
  ),
  scenario(
    'a watch without a resource version starts with existing objects',
    post(maps, map('a'), { only: ['kind'] }),
    post(maps, map('b'), { only: ['kind'] }),
    watch(maps, 2, mine),
    watch(maps, 2, { ...mine, resourceVersion: '0' }),
    watch(maps, 1, { ...mine, fieldSelector: 'metadata.name=b' }),
  ),
  scenario(
    'objects that start or stop matching a selector',
    start,
    post(maps, map('a', 'no'), { only: ['kind'] }),
    patch('merge', a, { metadata: { labels: { watched: 'yes' } } }, { only: ['kind'] }),
    patch('merge', a, { data: { k: 'x' } }, { only: ['kind'] }),
    patch('merge', a, { metadata: { labels: { watched: 'no' } } }, { only: ['kind'] }),
    patch('merge', a, { data: { k: 'y' } }, { only: ['kind'] }),
    del(a, undefined, { only: ['kind'] }),
    watch(maps, 4, { ...since, labelSelector: 'watched=yes' }),
    watch(maps, 4, { ...since, labelSelector: 'watched notin (yes),watched' }),
  ),
  scenario(
    'initial events end with a bookmark',
    post(maps, map('a'), { only: ['kind'] }),
    watch(maps, 2, {
      ...mine,
      sendInitialEvents: 'true',
      allowWatchBookmarks: 'true',
      resourceVersionMatch: 'NotOlderThan',
    }),
    watch(maps, 2, { ...mine, sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }),
    watch(maps, 1, { ...mine, sendInitialEvents: 'true', allowWatchBookmarks: 'true' }),
    watch(maps, 1, {
      ...mine,
      sendInitialEvents: 'false',
      resourceVersionMatch: 'NotOlderThan',
    }),
    watch(maps, 1, { resourceVersionMatch: 'NotOlderThan', resourceVersion: '1' }),
    get(maps, { query: { sendInitialEvents: 'true' } }),
  ),
  scenario(
    'watches as tables and metadata',
    start,
    post(maps, map('a'), { only: ['kind'] }),
    { ...watch(maps, 1, since), accept: tableType },
    { ...watch(maps, 1, since), accept: metadataType },
    {
      ...watch(maps, 2, {
        ...mine,
        sendInitialEvents: 'true',
        allowWatchBookmarks: 'true',
        resourceVersionMatch: 'NotOlderThan',
      }),
      accept: tableType,
    },
    {
      ...watch(maps, 2, {
        ...mine,
        sendInitialEvents: 'true',
        allowWatchBookmarks: 'true',
        resourceVersionMatch: 'NotOlderThan',
      }),
      accept: metadataType,
    },
  ),
  scenario(
    'invalid watches',
    watch(maps, 1, { resourceVersion: 'odd' }),
    watch(maps, 1, { labelSelector: 'a in b' }),
    watch(maps, 1, { fieldSelector: 'data.x=y' }),
    watch('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 1),
  ),
];
