// GET with watch=true: selects the events for a watcher. stream.ts sends them.
import type { ServerResponse } from 'node:http';
import { collectionOf } from '../../registry.ts';
import { forbidden } from '../../schema/field-error.ts';
import { storedFromObject } from '../../store/stored.ts';
import { Compacted } from '../../store/types.ts';
import type { Stored, StoreEvent } from '../../store/types.ts';
import type { Resource } from '../../resource.ts';
import type { Cluster, Target } from '../context.ts';
import { servedObject } from '../../conversion/forms.ts';
import { expired, Fault, internal, invalidOptions } from '../fault.ts';
import { jsonType, protobufType } from '../wire/negotiate.ts';
import type { View } from '../wire/represent.ts';
import { flag, versionNumber, wholeNumber } from '../request.ts';
import { selectionOf } from '../verbs/selectors.ts';
import { bookmarkLine, errorLine, eventLines } from './lines.ts';
import type { EventType, Line } from './lines.ts';
import { WatchFeed } from './feed.ts';
import { WatchStream } from './stream.ts';
import type { Watches } from './stream.ts';

const defaultTimeoutSeconds = 1800;

/** Responds with a stream of events. Throws a Fault, before anything is sent, when the query is invalid. */
export function watch(
  cluster: Cluster & { readonly watches: Watches },
  target: Target,
  query: URLSearchParams,
  view: View,
  response: ServerResponse,
): void {
  const { store } = cluster;
  const collection = collectionOf(target.resource);
  const since = versionNumber(query);
  const initial = startsWithExisting(query, since);
  const bookmarks = flag(query, 'allowWatchBookmarks');
  const relevant = filterOf(target, query);
  const lines = eventLines(view);
  const seconds = wholeNumber(query, 'timeoutSeconds') ?? 0;
  const stream = new WatchStream(response, {
    contentType: view.format.protobuf ? `${protobufType};stream=watch` : jsonType,
    // A watcher with undelivered events has not reached the version of the store.
    bookmark: () => (bookmarks && !feed?.isBehind ? bookmarkLine(view, store.version, false) : undefined),
    rounds: cluster.watches.rounds,
    timeoutMs: (seconds > 0 ? seconds : defaultTimeoutSeconds * (1 + Math.random())) * 1000,
  });
  const feed = byWebhook(target)
    ? new WatchFeed(cluster, target.resource, (error) => {
        const { status } = error instanceof Fault ? error : internal(String(error));
        stream.send(errorLine(status, view));
        stream.end();
      })
    : undefined;
  const lineOf = (event: ObjectEvent): Line | undefined => {
    const outcome = relevant(event);
    return outcome && lines(outcome.type, outcome.stored);
  };
  const send = (event: ObjectEvent): void => {
    const line = lineOf(event);
    if (line !== undefined) stream.send(line);
  };
  const handle = feed === undefined ? send : (event: ObjectEvent) => feed.push(statesOf(event), () => send(event));
  try {
    const first = initial
      ? store.list(collection, { namespace: target.namespace }).map(asAdded)
      : since
        ? store.eventsAfter(collection, since)
        : [];
    stream.begin(feed === undefined ? linesOf(first, lineOf) : []);
    if (feed !== undefined) for (const event of first) handle(event);
  } catch (error) {
    if (!(error instanceof Compacted)) throw error;
    stream.begin([errorLine(expired(error.message).status, view)]);
    stream.end();
    return;
  }
  if (flag(query, 'sendInitialEvents') && bookmarks) {
    const end = bookmarkLine(view, store.version, true);
    if (feed === undefined) stream.send(end);
    else feed.push([], () => stream.send(end));
  }
  const unsubscribe = store.subscribe(collection, (event) => {
    // If the requested version is ahead of the store, the client already knows the events up to it.
    if (since === undefined || event.version > since) handle(event);
  });
  // When a definition changes or is deleted, the watches of its objects end, so that clients discover the change.
  const stopListening = target.resource.custom
    ? cluster.registry.onRemoved(target.resource, () => stream.end())
    : undefined;
  cluster.watches.add(stream, () => {
    unsubscribe();
    feed?.end();
    stopListening?.();
  });
}

/** Whether the watch starts with all existing objects. */
function startsWithExisting(query: URLSearchParams, since: number | undefined): boolean {
  const match = query.get('resourceVersionMatch') ?? '';
  const refuse = (field: string, text: string): never => {
    throw invalidOptions('ListOptions', forbidden(field, text));
  };
  if (query.has('sendInitialEvents')) {
    const sendInitialEvents = flag(query, 'sendInitialEvents');
    if (match !== 'NotOlderThan') {
      refuse('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
    }
    return sendInitialEvents;
  }
  if (match !== '') {
    refuse('resourceVersionMatch', 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
  }
  return since === undefined || since === 0;
}

interface Outcome {
  readonly type: EventType;
  readonly stored: Stored;
}

type ObjectEvent = Pick<StoreEvent, 'type' | 'stored' | 'previous' | 'version'>;

type Filter = (event: ObjectEvent) => Outcome | undefined;

/** Applies the selectors: an object that starts to match is ADDED, one that stops matching is DELETED. */
function filterOf(target: Target, query: URLSearchParams): Filter {
  const { resource, namespace, name } = target;
  const selected = selectionOf(resource, query);
  const prefix = resource.namespaced && namespace !== '' ? `${namespace}/` : '';
  const key = name === '' ? undefined : prefix + name;
  return (event) => {
    if (!event.stored.key.startsWith(prefix) || (key !== undefined && event.stored.key !== key)) return undefined;
    if (selected === undefined) return { type: event.type, stored: event.stored };
    const before = event.previous !== undefined && selected(servedObject(event.previous, resource));
    const now = event.type !== 'DELETED' && selected(servedObject(event.stored, resource));
    if (now) return { type: before ? 'MODIFIED' : 'ADDED', stored: event.stored };
    if (!before) return undefined;
    return { type: 'DELETED', stored: event.type === 'DELETED' ? event.stored : lastSelected(event, resource) };
  };
}

/** The last matching state, with the version at which the object stopped matching. */
function lastSelected(event: ObjectEvent, resource: Resource): Stored {
  const { collection, key } = event.stored;
  return storedFromObject(collection, key, event.version, servedObject(event.previous!, resource));
}

function asAdded(stored: Stored): ObjectEvent {
  return { type: 'ADDED', stored, previous: undefined, version: stored.version };
}

/** Encodes lines lazily. */
function* linesOf(events: readonly ObjectEvent[], lineOf: (event: ObjectEvent) => Line | undefined): Iterable<Line> {
  for (const event of events) {
    const line = lineOf(event);
    if (line !== undefined) yield line;
  }
}

/** The states that must be converted to deliver an event. */
function statesOf({ stored, previous }: ObjectEvent): readonly Stored[] {
  return previous === undefined ? [stored] : [previous, stored];
}

function byWebhook({ resource }: Target): boolean {
  return resource.conversion?.webhook !== undefined;
}
