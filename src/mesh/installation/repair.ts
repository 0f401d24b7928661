// Gateways while an upgrade is stuck at istiod: theirs comes later, for they are never newer than istiod, and requests
// still come in through those that run.
import type { AnyObject } from '../../kube/index.ts';
import { ownedPart } from '../../kube/write/owned.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { FIELD_MANAGER } from '../names.ts';
import { isWorkload } from './ownership.ts';

const GATEWAYS: ReadonlySet<string> = new Set(['IngressGateways', 'EgressGateways']);

/** Whether what runs of a component is kept while its upgrade waits for another one. */
export function isRepaired(component: string): boolean {
  return GATEWAYS.has(component);
}

/**
 * What is applied of a component in the meantime: all that is the same for every version, and a workload that is gone or
 * was edited, in the version that ran. Another one is left alone: what it should be in that version, nobody can say.
 */
export function repairs(
  objects: readonly AnyObject[],
  isIntact: (object: AnyObject) => boolean,
  tags: { readonly wanted: string; readonly before: string },
): readonly AnyObject[] {
  return objects.flatMap((object) => {
    if (!isWorkload(object)) return [object];
    const before = inVersion(object, tags);
    return isIntact(before) ? [] : [before];
  });
}

interface PodTemplate {
  readonly spec?: { readonly containers?: readonly Container[] };
}

interface Container {
  readonly name?: string;
  readonly image?: string;
  readonly [field: string]: unknown;
}

/** Whether somebody has taken over a field of a container that we applied: it is not ours any more, and says otherwise. */
export function isEdited(wanted: AnyObject, live: AnyObject): boolean {
  const named = new Map(containersOf(live).map((container) => [container.name, container]));
  const ours = new Map(
    containersOf(ownedPart(live, FIELD_MANAGER) as AnyObject | undefined).map((each) => [each.name, each]),
  );
  return containersOf(wanted).some((container) => {
    const [found, owned] = [named.get(container.name), ours.get(container.name) ?? {}];
    return Object.entries(container).some(
      ([field, value]) => found?.[field] !== undefined && !(field in owned) && !jsonEqual(found[field], value),
    );
  });
}

function containersOf(workload: AnyObject | undefined): readonly Container[] {
  return (workload?.['spec'] as { readonly template?: PodTemplate } | undefined)?.template?.spec?.containers ?? [];
}

function inVersion(workload: AnyObject, { wanted, before }: { wanted: string; before: string }): AnyObject {
  const spec = workload['spec'] as { readonly template?: PodTemplate };
  const containers = (spec.template?.spec?.containers ?? []).map((container) =>
    container.image?.endsWith(`:${wanted}`) === true
      ? { ...container, image: container.image.slice(0, -wanted.length) + before }
      : container,
  );
  const template = { ...spec.template, spec: { ...spec.template?.spec, containers } };
  return { ...workload, spec: { ...spec, template } };
}
