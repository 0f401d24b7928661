// The writes of an installation: the foundation, the components in order, and the pruning of stale objects.
import type { View } from '../../controller/index.ts';
import { keyOf, own, remove } from '../../kube/index.ts';
import type { AnyObject, Kind, Step } from '../../kube/index.ts';
import { UNINSTALLED_KINDS } from '../deletion/uninstall.ts';
import { failure } from '../status/failures.ts';
import type { Failure } from '../status/failures.ts';
import { Injector, Namespace } from '../tables.ts';
import { byComponent } from './components.ts';
import { foundation } from './foundation.ts';
import { installed, kindOf } from './kinds.ts';
import { kindsMade } from './kinds-made.ts';
import { leftOver } from './ownership.ts';
import type { Rendered } from './render/rendered.ts';
import { desiredObject } from './state.ts';
import type { Installation } from './state.ts';
import { conflictingTags } from './tag-webhooks.ts';

export interface Writes {
  readonly steps: readonly Step[];
  /** The writes that the server refused. */
  readonly failures: readonly Failure[];
}

/** The writes of an installation. While there are no manifests for the target, the previous ones are kept applied. */
export function installationWrites(view: View, rendered: Rendered, { apply, repair, done }: Installation): Writes {
  const objects = rendered.value ?? [];
  const components = byComponent(objects);
  const desired = [
    ...foundation(kindsMade(view, objects)),
    ...[...apply.flatMap((name) => components.get(name) ?? []), ...repair].map((object) => desiredObject(view, object)),
  ];
  const failures: Failure[] = [];
  const steps = desired.flatMap((object) => {
    const kind = tableOf(object);
    if (!view.served(kind)) return [];
    const refusal = view.refusal(kind, object.metadata);
    if (refusal === undefined) return [own(kind, object)];
    failures.push(failure('install', `${object.kind} ${keyOf(object.metadata)}: ${refusal}`));
    return [];
  });
  const gone = done && rendered.state === 'ready' ? staleObjects(view, objects) : [];
  return { steps: [...steps, ...removals(view, gone, 'install', failures)], failures };
}

/** Removes objects; those that the server refuses to remove are reported and kept. */
export function removals(
  view: View,
  objects: readonly AnyObject[],
  what: 'install' | 'uninstall',
  failures: Failure[],
): readonly Step[] {
  return objects.flatMap((object) => {
    const kind = kindOf(object);
    const refusal = view.refusal(kind, object.metadata);
    if (refusal === undefined) return [remove(kind, object)];
    failures.push(failure(what, `${object.kind} ${keyOf(object.metadata)}: ${refusal}`));
    return [];
  });
}

/** All objects of all kinds that an installation may have created. */
export function installedObjects(view: View, rendered: readonly AnyObject[] = []): readonly AnyObject[] {
  return [...UNINSTALLED_KINDS, ...kindsMade(view, rendered)].flatMap((kind) => view.list(installed(kind)));
}

function staleObjects(view: View, objects: readonly AnyObject[]): readonly AnyObject[] {
  const stale = leftOver(installedObjects(view, objects), objects);
  const tags = conflictingTags(view.list(Injector));
  return [...stale, ...tags.filter((tag) => !stale.some(({ metadata }) => metadata.uid === tag.metadata.uid))];
}

function tableOf(object: AnyObject): Kind {
  return object.kind === 'Namespace' ? Namespace : installed(kindOf(object));
}
