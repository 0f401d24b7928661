// What a mesh consists of, in the words that both dialects of AWS App Mesh share: enough to decide what to write, what to
// remove and in which order.

/** In the order in which they are made. They are removed the other way round: nothing is ever referred to and gone. */
export const RESOURCE_TYPES = ['mesh', 'virtualNode', 'virtualRouter', 'route', 'virtualService'] as const;

export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** A part of a mesh, as it should be or as it was found. */
export interface Resource {
  readonly type: ResourceType;
  /** Unique among those of its type. A route is identified by its router and its name. */
  readonly id: string;
  /** Its name at AWS. */
  readonly name: string;
  /** Of a virtual node or service: the host that it stands for. */
  readonly host?: string;
  /** Of a route, and of a virtual service that has one: the id of the router. */
  readonly router?: string;
  /** Of a virtual node: the ids of the virtual services that it calls. */
  readonly backends?: readonly string[];
}

/** A part of a mesh that was found there. */
export type Found<R extends Resource> = R & {
  /** Whether it was made for the very mesh that is being reconciled. */
  readonly isOurs: boolean;
  /** It is part of a mesh of another name, which cannot be changed. */
  readonly isStale?: boolean;
  /** For what else it was made, as people name it, if it says so. */
  readonly owner?: string;
};

/** Names a resource in a message: `virtual router cart-shop-svc-cluster-local`. */
export function titleOf({ type, name }: Resource): string {
  return `${type.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)} ${name}`;
}
