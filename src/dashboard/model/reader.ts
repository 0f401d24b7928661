// Facts as descriptions read them. Whoever reads here is woken when what was read changes.
import type { ObjectReader } from '../../api/description/reader.ts';
import type { Facts } from '../../controller/index.ts';
import { defineTable, Event, matches, parseFieldSelector, parseSelector } from '../../kube/index.ts';
import type { AnyKind, Kind, KubeObject, Ref, Selection } from '../../kube/index.ts';

/** Events, found by what they are about: there may be very many of them. */
export const Events = defineTable(Event, {
  optional: true,
  indexes: { regarding: ({ regarding }) => [regardingKey(regarding.kind, regarding.namespace, regarding.name)] },
});

function regardingKey(kind: string, namespace: string | undefined, name: string): string {
  return `${kind} ${namespace ?? ''}/${name}`;
}

/** Says what whoever looks may read; everything, where there is nobody to ask. */
export type MayRead = (kind: AnyKind, namespace: string | undefined) => boolean;

export const everything: MayRead = () => true;

/** Reads objects from facts, as far as they may be read. */
export function readerOf(facts: Facts, mayRead: MayRead = everything): ObjectReader {
  return {
    get<T extends KubeObject>(kind: Kind<T>, ref: Ref): T | 'hidden' | undefined {
      return mayRead(kind, ref.namespace) ? facts.get(kind, ref) : 'hidden';
    },
    list<T extends KubeObject>(kind: Kind<T>, selection: Selection): readonly T[] {
      const listed = kind.plural === Event.plural ? eventsOf(facts, selection) : listOf(facts, kind, selection);
      return (listed as readonly T[]).filter(({ metadata }) => mayRead(kind, metadata.namespace));
    },
  };
}

function listOf<T extends KubeObject>(
  facts: Facts,
  kind: Kind<T>,
  { namespace, labelSelector, fieldSelector = '' }: Selection,
): readonly T[] {
  const where = {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labels: labelSelector }),
  };
  const listed = facts.list(kind, where);
  return fieldSelector === '' ? listed : listed.filter(parseFieldSelector(fieldSelector));
}

/** What descriptions ask for is about one object, and an index has it. */
function eventsOf(facts: Facts, { namespace, fieldSelector = '', labelSelector = '' }: Selection): readonly Event[] {
  const [, kind, name] = /^regarding\.kind=([^,]+),regarding\.name=([^,]+)$/.exec(fieldSelector) ?? [];
  if (kind === undefined || name === undefined)
    return listOf(facts, Events, { namespace, fieldSelector, labelSelector });
  const labels = parseSelector(labelSelector);
  return facts
    .index(Events, 'regarding', regardingKey(kind, namespace, name))
    .filter(({ metadata }) => matches(labels, metadata.labels));
}
