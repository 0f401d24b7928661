// A user's view of the cluster: the observed objects, the settings of the controllers, and what the user may read.
import type { Facts } from '../../controller/index.ts';
import type { Settings } from '../../environments/index.ts';
import type { AnyKind } from '../../kube/index.ts';

/** A resource as access reviews name it. */
export type Resource = Pick<AnyKind, 'group' | 'plural'>;

export type Verb = 'list' | 'delete';

/** Whether the user may do something in a namespace, or in all of them. Listing includes reading all fields. */
export type May = (verb: Verb, resource: Resource, namespace: string | undefined) => boolean;

export interface Scope {
  readonly facts: Facts;
  readonly settings: Settings;
  readonly may: May;
}
