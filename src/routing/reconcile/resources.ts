// The resources of a mesh, in the form that both App Mesh back ends share: enough to decide what to write, what to
// remove and in which order.

/** In the order of creation. They are removed in reverse order, so that no reference ever dangles. */
export const RESOURCE_TYPES = ['mesh', 'virtualNode', 'virtualRouter', 'route', 'virtualService'] as const;

export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** A resource of a mesh, desired or found. */
export interface Resource {
  readonly type: ResourceType;
  /** Unique among those of its type. A route is identified by its router and its name. */
  readonly id: string;
  /** Its name at AWS. */
  readonly name: string;
  /** For a virtual node or service: its host. */
  readonly host?: string;
  /** For a route, and for a virtual service with a router: the id of the router. */
  readonly router?: string;
  /** For a virtual node: the ids of the virtual services that it calls. */
  readonly backends?: readonly string[];
}

/** A resource that was found in a mesh. */
export type Found<R extends Resource> = R & {
  /** Whether it was made for the mesh that is being reconciled. */
  readonly isOurs: boolean;
  /** It belongs to a mesh of another name, which cannot be changed. */
  readonly isStale?: boolean;
  /** Its other owner in words, if known. */
  readonly owner?: string;
};

/** Names a resource in a message: `virtual router cart-shop-svc-cluster-local`. */
export function titleOf({ type, name }: Resource): string {
  return `${type.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)} ${name}`;
}
