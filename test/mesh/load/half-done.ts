// Waits until an environment is half created or half deleted: when its controllers are killed in the tests.
import type { DynamicEnv } from '../../../src/api/dynamicenv.ts';
import { cloneName, ruleName } from '../../../src/environments/names.ts';
import { Deployment } from '../../../src/environments/objects.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import type { AnyKind, Ref } from '../../../src/kube/objects.ts';
import { DestinationRule, VirtualService } from '../../../src/traffic/istio/objects.ts';
import { poll } from '../../scenarios/poll.ts';

const DEADLINE_MS = 60_000;

/** Resolves when the clone is there, its rule, or its route: another of them in every cycle. */
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

/** Resolves when the route is gone. */
export async function halfDeleted(client: Client, { metadata, spec }: DynamicEnv): Promise<void> {
  const [{ name, namespace }] = spec.subsets as [{ readonly name: string; readonly namespace: string }];
  await poll(async () => !(await isRouted(client, metadata, { namespace, name })), DEADLINE_MS);
}

/** Whether requests with the key of the environment have a route of their own. */
async function isRouted(client: Client, { name, namespace }: Ref, base: Ref): Promise<boolean> {
  const { spec } = await client.get(VirtualService, base);
  return JSON.stringify(spec).includes(`"${namespace}-${name}"`);
}

async function exists(client: Client, kind: AnyKind, ref: Ref): Promise<boolean> {
  return client.get(kind, ref).then(
    () => true,
    (error: unknown) => {
      if (isNotFound(error)) return false;
      throw error;
    },
  );
}
