// How somebody sees the cluster: what is observed, by the settings of the controllers, as far as they may read it.
import type { Facts } from '../../controller/index.ts';
import type { Settings } from '../../environments/index.ts';
import type { AnyKind } from '../../kube/index.ts';

/** What rights are about. */
export type Resource = Pick<AnyKind, 'group' | 'plural'>;

export type Verb = 'list' | 'delete';

/** Says what whoever looks may do in a namespace; without one, everywhere. To list is to see all of an object. */
export type May = (verb: Verb, resource: Resource, namespace: string | undefined) => boolean;

export interface Scope {
  readonly facts: Facts;
  readonly settings: Settings;
  readonly may: May;
}
