// An ObjectReader over the objects of a test.
import type { Selection } from '../../kube/client/client.ts';
import type { AnyKind, KubeObject, Ref } from '../../kube/objects.ts';
import { keyOf } from '../../kube/objects.ts';
import { matches, parseSelector } from '../../kube/selector.ts';
import type { ObjectReader } from '../description/reader.ts';

/** Reads these objects; those listed in `hidden`, as `Kind namespace/name`, may not be read. */
export function readerOf(objects: readonly KubeObject[], hidden: readonly string[] = []): ObjectReader {
  const isHidden = ({ kind }: AnyKind, ref: Ref): boolean => hidden.includes(`${kind} ${keyOf(ref)}`);
  const ofKind = (kind: AnyKind): readonly KubeObject[] => objects.filter((each) => each.kind === kind.kind);
  const read = {
    get: (kind: AnyKind, ref: Ref) =>
      isHidden(kind, ref) ? 'hidden' : ofKind(kind).find(({ metadata }) => keyOf(metadata) === keyOf(ref)),
    list: (kind: AnyKind, { namespace, labelSelector = '' }: Selection) =>
      ofKind(kind).filter(
        ({ metadata }) =>
          !isHidden(kind, metadata) &&
          (namespace === undefined || metadata.namespace === namespace) &&
          matches(parseSelector(labelSelector), metadata.labels),
      ),
  };
  return read as unknown as ObjectReader;
}
