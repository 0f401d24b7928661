// Gateways while an upgrade is stuck at istiod: theirs comes later, for they are never newer than istiod, and requests
// still come in through those that run.
import type { AnyObject } from '../../kube/index.ts';
import { isWorkload } from './ownership.ts';

const GATEWAYS: ReadonlySet<string> = new Set(['IngressGateways', 'EgressGateways']);

/** Whether what runs of a component is kept while its upgrade waits for another one. */
export function isRepaired(component: string): boolean {
  return GATEWAYS.has(component);
}

/**
 * What is applied of a component in the meantime: all that is the same for every version, and a workload that is gone, in
 * the version that ran. One that is there is left alone: what it should be in that version, nobody can say any more.
 */
export function repairs(
  objects: readonly AnyObject[],
  isThere: (object: AnyObject) => boolean,
  tags: { readonly wanted: string; readonly before: string },
): readonly AnyObject[] {
  return objects.flatMap((object) => {
    if (!isWorkload(object)) return [object];
    return isThere(object) ? [] : [inVersion(object, tags)];
  });
}

interface PodTemplate {
  readonly spec?: { readonly containers?: readonly { readonly image?: string }[] };
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
