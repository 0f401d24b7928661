// Repairs gateways while an upgrade is stuck at istiod: they are upgraded after istiod, and must serve requests until
// then.
import type { AnyObject } from '../../kube/index.ts';
import { ownedPart } from '../../kube/write/owned.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { FIELD_MANAGER } from '../names.ts';
import { isWorkload } from './ownership.ts';

const GATEWAYS: ReadonlySet<string> = new Set(['IngressGateways', 'EgressGateways']);

/** Whether a running component is repaired while its upgrade waits for another one. */
export function isRepaired(component: string): boolean {
  return GATEWAYS.has(component);
}

/**
 * The objects of a component to apply in the meantime: all that do not depend on the version, and a workload that was
 * deleted or edited, in its previous version. Intact workloads are left alone, as their previous manifest is not known.
 */
export function repairs(
  objects: readonly AnyObject[],
  isIntact: (object: AnyObject) => boolean,
  tags: { readonly desired: string; readonly before: string },
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

/** Whether somebody has changed a field of a container that we applied, and owns it now. */
export function isEdited(desired: AnyObject, live: AnyObject): boolean {
  const named = new Map(containersOf(live).map((container) => [container.name, container]));
  const ours = new Map(
    containersOf(ownedPart(live, FIELD_MANAGER) as AnyObject | undefined).map((each) => [each.name, each]),
  );
  return containersOf(desired).some((container) => {
    const [found, owned] = [named.get(container.name), ours.get(container.name) ?? {}];
    return Object.entries(container).some(
      ([field, value]) => found?.[field] !== undefined && !(field in owned) && !jsonEqual(found[field], value),
    );
  });
}

function containersOf(workload: AnyObject | undefined): readonly Container[] {
  return (workload?.['spec'] as { readonly template?: PodTemplate } | undefined)?.template?.spec?.containers ?? [];
}

function inVersion(workload: AnyObject, { desired, before }: { desired: string; before: string }): AnyObject {
  const spec = workload['spec'] as { readonly template?: PodTemplate };
  const containers = (spec.template?.spec?.containers ?? []).map((container) =>
    container.image?.endsWith(`:${desired}`) === true
      ? { ...container, image: container.image.slice(0, -desired.length) + before }
      : container,
  );
  const template = { ...spec.template, spec: { ...spec.template?.spec, containers } };
  return { ...workload, spec: { ...spec, template } };
}
