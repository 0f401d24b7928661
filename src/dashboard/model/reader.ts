// Reads facts for descriptions. Reads are tracked: the reader is woken when an object that it read changes.
import type { ObjectReader } from '../../api/description/reader.ts';
import type { Facts } from '../../controller/index.ts';
import { MARKER_LABEL } from '../../environments/names.ts';
import { Pod } from '../../environments/objects.ts';
import { defineTable, Event, matches, parseFieldSelector, parseSelector } from '../../kube/index.ts';
import type { Kind, KubeObject, Ref, Selection } from '../../kube/index.ts';
import { ISTIO_NAMESPACE } from '../../mesh/names.ts';
import type { Scope } from './scope.ts';

/** Events, indexed by the object that they are about: there may be very many. */
export const Events = defineTable(Event, {
  optional: true,
  indexes: { regarding: ({ regarding }) => [regardingKey(regarding.kind, regarding.namespace, regarding.name)] },
});

function regardingKey(kind: string, namespace: string | undefined, name: string): string {
  return `${kind} ${namespace ?? ''}/${name}`;
}

/** Reads objects from facts, as far as the user may read them. */
export function readerOf({ facts, may }: Pick<Scope, 'facts' | 'may'>): ObjectReader {
  return {
    get<T extends KubeObject>(kind: Kind<T>, ref: Ref): T | 'hidden' | undefined {
      return may('list', kind, ref.namespace) ? facts.get(kind, ref) : 'hidden';
    },
    list<T extends KubeObject>(kind: Kind<T>, selection: Selection): readonly T[] {
      const listed = kind.plural === Event.plural ? eventsOf(facts, selection) : listOf(facts, kind, selection);
      return (listed as readonly T[]).filter(({ metadata }) => may('list', kind, metadata.namespace));
    },
  };
}

/** The pods that descriptions need: those of clones, and those of Istio itself. */
const ClonePods = defineTable(Pod, { labelSelector: `${MARKER_LABEL}=true`, optional: true });
const IstioPods = defineTable(Pod, { namespace: ISTIO_NAMESPACE, optional: true });

function tableOf<T extends KubeObject>(kind: Kind<T>, { namespace, labelSelector }: Selection): Kind<T> {
  const isAnyPod = kind.plural === Pod.plural && kind.group === Pod.group && !('table' in kind);
  if (!isAnyPod) return kind;
  if (namespace === ISTIO_NAMESPACE && labelSelector === undefined) return IstioPods as unknown as Kind<T>;
  return labelSelector === undefined ? kind : (ClonePods as unknown as Kind<T>);
}

function listOf<T extends KubeObject>(facts: Facts, kind: Kind<T>, selection: Selection): readonly T[] {
  const { namespace, labelSelector, fieldSelector = '' } = selection;
  const where = {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labels: labelSelector }),
  };
  const listed = facts.list(tableOf(kind, selection), where);
  return fieldSelector === '' ? listed : listed.filter(parseFieldSelector(fieldSelector));
}

/** Descriptions list the Events of one object, which the index serves. */
function eventsOf(facts: Facts, { namespace, fieldSelector = '', labelSelector = '' }: Selection): readonly Event[] {
  const [, kind, name] = /^regarding\.kind=([^,]+),regarding\.name=([^,]+)$/.exec(fieldSelector) ?? [];
  if (kind === undefined || name === undefined)
    return listOf(facts, Events, { namespace, fieldSelector, labelSelector });
  const labels = parseSelector(labelSelector);
  return facts
    .index(Events, 'regarding', regardingKey(kind, namespace, name))
    .filter(({ metadata }) => matches(labels, metadata.labels));
}
