// The latest Events about our objects, newest first.
import { keyOf } from '../../kube/index.ts';
import type { Event } from '../../kube/index.ts';
import type { FeedItem } from '../data.ts';
import { Events } from './reader.ts';
import { ROW_KINDS } from './rows.ts';
import type { Scope } from './scope.ts';

const MAX_ITEMS = 40;
const KINDS = new Set(Object.values(ROW_KINDS).map(({ kind }) => kind));

/** The Events that the user may read. */
export function feedOf({ facts, may }: Scope): readonly FeedItem[] {
  return facts
    .list(Events)
    .filter(({ regarding, metadata }) => KINDS.has(regarding.kind) && may('list', Events, metadata.namespace))
    .map(itemOf)
    .sort((a, b) => (a.time < b.time ? 1 : -1))
    .slice(0, MAX_ITEMS);
}

function itemOf({ metadata, regarding, type, reason, note, series, eventTime }: Event): FeedItem {
  return {
    id: keyOf(metadata),
    time: series?.lastObservedTime ?? eventTime ?? metadata.creationTimestamp ?? '',
    type,
    reason,
    note,
    kind: regarding.kind,
    namespace: regarding.namespace ?? '',
    name: regarding.name,
  };
}
