// GET with watch=true: which events a watcher gets, from where on. The sending itself is watch-stream.ts.
import type { ServerResponse } from 'node:http';
import { collectionOf } from '../registry.ts';
import { forbidden } from '../schema/field-error.ts';
import { storedFromObject } from '../store/stored.ts';
import { Compacted } from '../store/types.ts';
import type { Stored, StoreEvent } from '../store/types.ts';
import type { Cluster, Target } from './context.ts';
import { servedObject } from './conversion.ts';
import { expired, invalidOptions } from './fault.ts';
import { jsonType, protobufType } from './negotiate.ts';
import type { View } from './represent.ts';
import { flag, versionNumber, wholeNumber } from './request.ts';
import { selectionOf } from './selectors.ts';
import { bookmarkLine, errorLine, eventLines } from './watch-lines.ts';
import type { EventType, Line } from './watch-lines.ts';
import { WatchStream } from './watch-stream.ts';
import type { Watches } from './watch-stream.ts';

const defaultTimeoutSeconds = 1800;

/** Answers with a stream of events. Throws a Fault, before anything is sent, when the query makes no sense. */
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
  const initial = wantsInitial(query, since);
  const bookmarks = flag(query, 'allowWatchBookmarks');
  const relevant = filterOf(target, query);
  const lines = eventLines(view);
  const seconds = wholeNumber(query, 'timeoutSeconds') ?? 0;
  const stream = new WatchStream(response, {
    contentType: view.format.protobuf ? `${protobufType};stream=watch` : jsonType,
    bookmark: bookmarks ? () => bookmarkLine(view, store.version, false) : undefined,
    rounds: cluster.watches.rounds,
    timeoutMs: (seconds > 0 ? seconds : defaultTimeoutSeconds * (1 + Math.random())) * 1000,
  });
  try {
    const replay = initial || !since ? [] : store.eventsAfter(collection, since);
    stream.begin(
      initial
        ? initialLines([...store.list(collection, { namespace: target.namespace })], relevant, lines)
        : replayLines(replay, relevant, lines),
    );
  } catch (error) {
    if (!(error instanceof Compacted)) throw error;
    stream.begin([errorLine(expired(error.message).status, view)]);
    stream.end();
    return;
  }
  if (flag(query, 'sendInitialEvents') && bookmarks) stream.send(bookmarkLine(view, store.version, true));
  const unsubscribe = store.subscribe(collection, (event) => {
    // A version ahead of the store's was asked for: what comes up to it is already known to the caller.
    if (since !== undefined && event.version <= since) return;
    const outcome = relevant(event);
    if (outcome !== undefined) stream.send(lines(outcome.type, outcome.stored));
  });
  // A definition that goes or changes ends the watches of its objects: whoever watches looks again at what is served.
  const stay = target.resource.custom ? cluster.registry.onLeave(target.resource, () => stream.end()) : undefined;
  cluster.watches.add(stream, () => {
    unsubscribe();
    stay?.();
  });
}

/** Does the watch start with everything there is? */
function wantsInitial(query: URLSearchParams, since: number | undefined): boolean {
  const match = query.get('resourceVersionMatch') ?? '';
  const refuse = (field: string, text: string): never => {
    throw invalidOptions('ListOptions', forbidden(field, text));
  };
  if (query.has('sendInitialEvents')) {
    const wanted = flag(query, 'sendInitialEvents');
    if (match !== 'NotOlderThan') {
      refuse('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
    }
    return wanted;
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

type Filter = (event: Pick<StoreEvent, 'type' | 'stored' | 'previous' | 'version'>) => Outcome | undefined;

/** What an event means to a watcher that sees only a part: entering it is ADDED, leaving it is DELETED. */
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
    return { type: 'DELETED', stored: event.type === 'DELETED' ? event.stored : lastSelected(event) };
  };
}

/** The last state that was selected, at the version at which it ceased to be. */
function lastSelected(event: Pick<StoreEvent, 'stored' | 'previous' | 'version'>): Stored {
  const { collection, key } = event.stored;
  return storedFromObject(collection, key, event.version, event.previous!.object);
}

function* initialLines(
  items: readonly Stored[],
  relevant: Filter,
  lines: ReturnType<typeof eventLines>,
): Iterable<Line> {
  for (const stored of items) {
    const outcome = relevant({ type: 'ADDED', stored, previous: undefined, version: stored.version });
    if (outcome !== undefined) yield lines(outcome.type, outcome.stored);
  }
}

function* replayLines(
  events: readonly StoreEvent[],
  relevant: Filter,
  lines: ReturnType<typeof eventLines>,
): Iterable<Line> {
  for (const event of events) {
    const outcome = relevant(event);
    if (outcome !== undefined) yield lines(outcome.type, outcome.stored);
  }
}
