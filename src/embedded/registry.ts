// The resources that the server currently serves: built-in ones and those of CustomResourceDefinitions. Discovery, the
// router and garbage collection read it; rest/background/definitions.ts changes it.
import type { Resource } from './resource.ts';

/** The collection of the store that holds a resource's objects: `deployments.apps`, `pods`. */
export function collectionOf(resource: Pick<Resource, 'group' | 'plural' | 'stored'>): string {
  const group = resource.stored?.group ?? resource.group;
  return group === '' ? resource.plural : `${resource.plural}.${group}`;
}

/** `apps/v1` or, in the core group, `v1`. */
export function apiVersionOf(resource: { readonly group: string; readonly version: string }): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** The `apiVersion` in which a resource's objects are stored. */
export function storedApiVersionOf(resource: Resource): string {
  return apiVersionOf(resource.stored ?? resource);
}

export class Registry {
  readonly #byPlural = new Map<string, Resource>();
  readonly #byKind = new Map<string, Resource>();
  readonly #custom = new Map<string, readonly Resource[]>();
  readonly #builtin: readonly Resource[];
  readonly #removalListeners = new Map<Resource, Set<() => void>>();
  #generation = 0;

  constructor(builtin: readonly Resource[]) {
    this.#builtin = builtin;
    for (const resource of builtin) this.#add(resource);
  }

  /** Increases with every change, so that documents made from the registry can be cached. */
  get generation(): number {
    return this.#generation;
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#byPlural.get(`${group}/${version}/${plural}`);
  }

  findKind(group: string, version: string, kind: string): Resource | undefined {
    return this.#byKind.get(`${group}/${version}/${kind}`);
  }

  /** All served resources: built-in ones first, then custom ones in the order in which they were added. */
  all(): readonly Resource[] {
    return [...this.#builtin, ...[...this.#custom.values()].flat()];
  }

  /** Calls the listener when a resource is replaced or removed, until the returned function is called. */
  onRemoved(resource: Resource, listener: () => void): () => void {
    const listeners = this.#removalListeners.get(resource) ?? new Set();
    this.#removalListeners.set(resource, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#removalListeners.delete(resource);
    };
  }

  /** Replaces the resources of one definition. */
  setCustom(definition: string, resources: readonly Resource[]): void {
    this.removeCustom(definition);
    this.#custom.set(definition, resources);
    for (const resource of resources) this.#add(resource);
  }

  removeCustom(definition: string): void {
    this.#generation++;
    for (const resource of this.#custom.get(definition) ?? []) {
      for (const listener of this.#removalListeners.get(resource) ?? []) listener();
      this.#removalListeners.delete(resource);
      this.#byPlural.delete(`${resource.group}/${resource.version}/${resource.plural}`);
      this.#byKind.delete(`${resource.group}/${resource.version}/${resource.kind}`);
    }
    this.#custom.delete(definition);
  }

  #add(resource: Resource): void {
    this.#byPlural.set(`${resource.group}/${resource.version}/${resource.plural}`, resource);
    this.#byKind.set(`${resource.group}/${resource.version}/${resource.kind}`, resource);
  }
}
