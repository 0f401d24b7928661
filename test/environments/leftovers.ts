// Finds what environments left behind. Empty after their deletion.
import type { Client } from '../../src/kube/client/client.ts';
import { defineKind, keyOf } from '../../src/kube/objects.ts';
import type { AnyObject, Kind } from '../../src/kube/objects.ts';
import { poll } from '../scenarios/poll.ts';

const Deployment = defineKind('apps/v1', 'Deployment', 'deployments');
const DestinationRule = defineKind('networking.istio.io/v1beta1', 'DestinationRule', 'destinationrules');
const VirtualService = defineKind('networking.istio.io/v1beta1', 'VirtualService', 'virtualservices');
export const DynamicEnv = defineKind('riskified.com/v1alpha1', 'DynamicEnv', 'dynamicenvs');
const DEADLINE_MS = 20_000;
const ANNOTATION = 'riskified.com/dynamic-environment';

/** What is left of environments in some namespaces after a deadline; normally nothing. */
export async function leftoversInTheEnd(
  client: Client,
  inNamespace: (name: string) => boolean,
): Promise<readonly string[]> {
  let left: readonly string[] = [];
  const nothingIsLeft = async (): Promise<boolean> => {
    left = await leftovers(client, inNamespace);
    return left.length === 0;
  };
  await poll(nothingIsLeft, DEADLINE_MS).catch(() => undefined);
  return left;
}

/** Environments and their traces: clones, rules, routes, names in annotations. */
async function leftovers(client: Client, inNamespace: (name: string) => boolean): Promise<readonly string[]> {
  const list = async (kind: Kind): Promise<readonly AnyObject[]> => {
    const { items } = await client.list(kind);
    return items.filter(({ metadata }) => inNamespace(metadata.namespace ?? ''));
  };
  const show = ({ kind, metadata }: AnyObject, what = ''): string => `${kind} ${keyOf(metadata)}${what}`;
  const found: string[] = (await list(DynamicEnv)).map((env) => show(env));
  for (const kind of [Deployment, DestinationRule, VirtualService]) {
    for (const object of await list(kind)) {
      const { annotations = {}, labels = {} } = object.metadata;
      // An entry that is not `namespace/name` is not ours.
      if (/[^,/]\/[^,/]/.test(annotations[ANNOTATION] ?? ''))
        found.push(show(object, ` is annotated ${annotations[ANNOTATION]}`));
      else if (labels['dynamic-env'] === 'true') found.push(show(object));
      const { http = [] } = (object['spec'] ?? {}) as { http?: { name?: string }[] };
      const routes = http.filter(({ name }) => name?.startsWith('dynamic-environment-'));
      found.push(...routes.map(({ name }) => show(object, ` has the route ${name}`)));
    }
  }
  return found;
}
