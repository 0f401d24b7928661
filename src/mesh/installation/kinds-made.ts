// The kinds of objects that an installation has created, besides those that every uninstall covers. They are recorded
// on the namespace of Istio before the first object is created: a later version may render no object of a kind, and
// those of an earlier version must still be removed.
import type { Facts } from '../../controller/index.ts';
import type { AnyObject, Kind } from '../../kube/index.ts';
import { UNINSTALLED_KINDS } from '../deletion/uninstall.ts';
import { ISTIO_NAMESPACE, KINDS_MADE } from '../names.ts';
import { Namespace } from '../tables.ts';
import { kindOf } from './kinds.ts';

const USUAL = new Set(UNINSTALLED_KINDS.map(({ group, kind }) => `${kind}.${group}`));

/** The kinds of these objects and the recorded ones, without the usual ones. */
export function kindsMade(facts: Facts, rendered: readonly AnyObject[] = []): readonly Kind[] {
  const { annotations } = facts.get(Namespace, { name: ISTIO_NAMESPACE })?.metadata ?? {};
  const kinds = [...parse(annotations?.[KINDS_MADE] ?? ''), ...rendered.map(kindOf)].filter(
    ({ group, kind }) => !USUAL.has(`${kind}.${group}`),
  );
  return [...new Map(kinds.map((kind) => [textOf(kind), kind])).values()];
}

/** The annotation that records the kinds; none if there are only the usual ones. */
export function kindsMadeAnnotation(kinds: readonly Kind[]): Readonly<Record<string, string>> {
  return kinds.length === 0 ? {} : { [KINDS_MADE]: kinds.map(textOf).toSorted().join(', ') };
}

/** `v1 ResourceQuota in namespaces` */
function textOf({ group, version, kind, namespaced }: Kind): string {
  return `${group === '' ? version : `${group}/${version}`} ${kind}${namespaced ? ' in namespaces' : ''}`;
}

/** Invalid kinds are ignored, as people can edit annotations. */
function parse(text: string): readonly Kind[] {
  return text.split(',').flatMap((each) => {
    const [, apiVersion, kind, where] = /^\s*([\w.-]+(?:\/\w+)?) (\w+)( in namespaces)?\s*$/.exec(each) ?? [];
    if (apiVersion === undefined || kind === undefined) return [];
    return [kindOf({ apiVersion, kind, metadata: { name: '', ...(where && { namespace: ISTIO_NAMESPACE }) } })];
  });
}
