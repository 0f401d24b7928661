// An embedded cluster for tests of the simulation: calls the verbs of the API without a network.
import { onTestFinished } from 'vitest';
import type { AnyObject, KubeObject } from '../../../kube/objects.ts';
import { create } from '../../rest/verbs/create.ts';
import { systemUser } from '../../rest/context.ts';
import type { Target, WriteOptions } from '../../rest/context.ts';
import { remove } from '../../rest/verbs/delete.ts';
import type { DeleteOptions } from '../../rest/verbs/delete.ts';
import { change } from '../../rest/verbs/update.ts';
import { startEmbedded } from '../../server.ts';
import type { Embedded, EmbeddedOptions } from '../../server.ts';
import type { SimulationOptions } from '../index.ts';
import type { Collection } from '../../kinds/types.ts';

const asTest: WriteOptions = {
  user: systemUser,
  dryRun: false,
  fieldManager: 'test',
  fieldValidation: 'Strict',
  warn: () => undefined,
};

export class TestCluster {
  readonly embedded: Embedded;
  /** Unexpected errors of the simulation. */
  readonly errors: unknown[];

  constructor(embedded: Embedded, errors: unknown[]) {
    this.embedded = embedded;
    this.errors = errors;
  }

  /** Creates objects one after the other; their namespace is `default` unless they have one. */
  async create(...objects: readonly object[]): Promise<void> {
    for (const given of objects) {
      const object = given as AnyObject;
      const target = this.#target(object);
      await create(this.embedded.cluster, { ...target, name: '' }, object, asTest);
    }
  }

  get<T extends KubeObject>(collection: Collection<T>, key: string): T | undefined {
    return this.embedded.store.get(collection, key)?.object as unknown as T | undefined;
  }

  /** The object, which must exist. */
  must<T extends KubeObject>(collection: Collection<T>, key: string): T {
    const object = this.get(collection, key);
    if (object === undefined) throw new Error(`${collection} ${key} does not exist`);
    return object;
  }

  list<T extends KubeObject>(collection: Collection<T>, namespace = 'default'): readonly T[] {
    return this.embedded.store.list(collection, { namespace }).map((stored) => stored.object as unknown as T);
  }

  async change<T extends KubeObject>(
    collection: Collection<T>,
    key: string,
    edit: (object: T) => object,
  ): Promise<void> {
    const target = this.#target(this.must(collection, key));
    const mutate = (old: AnyObject): { object: AnyObject } => ({ object: edit(old as unknown as T) as AnyObject });
    await change(this.embedded.cluster, target, mutate, asTest);
  }

  async remove(collection: Collection<KubeObject>, key: string, request: DeleteOptions = {}): Promise<void> {
    await remove(this.embedded.cluster, this.#target(this.must(collection, key)), request, asTest);
  }

  /** Waits until the controllers are idle. */
  async settle(): Promise<void> {
    await this.embedded.simulation?.idle();
  }

  #target(object: KubeObject): Target {
    const [version, group = ''] = object.apiVersion.split('/').reverse();
    const resource = this.embedded.cluster.registry.findKind(group, version!, object.kind);
    if (resource === undefined) throw new Error(`${object.apiVersion} ${object.kind} is not served`);
    const namespace = resource.namespaced ? (object.metadata.namespace ?? 'default') : '';
    return { resource, namespace, name: object.metadata.name, subresource: '' };
  }
}

/** Starts a cluster that stops with the test. */
export async function testCluster(
  simulation: SimulationOptions | false = {},
  options: EmbeddedOptions = {},
): Promise<TestCluster> {
  const errors: unknown[] = [];
  const embedded = await startEmbedded({ ...options, simulation, onError: (error) => errors.push(error) });
  onTestFinished(() => embedded.stop());
  return new TestCluster(embedded, errors);
}
