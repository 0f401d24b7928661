// Waits until an environment is half created or half deleted, so that tests can kill its controllers at that moment.
import type { DynamicEnv } from '../../../src/api/dynamicenv.ts';
import { cloneName, ruleName } from '../../../src/environments/names.ts';
import { Deployment } from '../../../src/environments/objects.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import type { AnyKind, Ref } from '../../../src/kube/objects.ts';
import { DestinationRule, VirtualService } from '../../../src/traffic/istio/objects.ts';
import { poll } from '../../scenarios/poll.ts';
import { findObject } from '../../support/find-object.ts';

const DEADLINE_MS = 60_000;

/** Resolves when the clone, its DestinationRule or its route exists: another of them in every cycle. */
export async function halfCreated(client: Client, { metadata, spec }: DynamicEnv, cycle: number): Promise<void> {
  const [subset] = spec.subsets as [{ readonly name: string; readonly namespace: string }];
  const { name: base, namespace } = subset;
  const parts = [
    () => exists(client, Deployment, { namespace, name: cloneName(metadata, subset) }),
    () => exists(client, DestinationRule, { namespace, name: ruleName(metadata, subset, base) }),
    () => isRouted(client, metadata, { namespace, name: base }),
  ];
  await poll(parts[cycle % parts.length]!, DEADLINE_MS);
}

/** Resolves when the route has been removed. */
export async function halfDeleted(client: Client, { metadata, spec }: DynamicEnv): Promise<void> {
  const [{ name, namespace }] = spec.subsets as [{ readonly name: string; readonly namespace: string }];
  await poll(async () => !(await isRouted(client, metadata, { namespace, name })), DEADLINE_MS);
}

/** Whether the VirtualService has a route to the environment. */
async function isRouted(client: Client, { name, namespace }: Ref, base: Ref): Promise<boolean> {
  const { spec } = await client.get(VirtualService, base);
  return JSON.stringify(spec).includes(`"${namespace}-${name}"`);
}

async function exists(client: Client, kind: AnyKind, ref: Ref): Promise<boolean> {
  return (await findObject(client, kind, ref)) !== undefined;
}
