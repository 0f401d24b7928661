// Looks up environments.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Client } from '../../kube/client/client.ts';
import { getByName } from '../objects/find.ts';
import type { NamespacedName, Noun } from '../objects/find.ts';

export const ENVIRONMENT: Noun<DynamicEnv> = {
  kind: DynamicEnv,
  one: 'environment',
  many: 'environments',
  list: 'offshoot env list -A',
};

/** Gets an environment; fails with a hint if it does not exist. */
export function getEnvironment(client: Client, ref: NamespacedName): Promise<DynamicEnv> {
  return getByName(client, ENVIRONMENT, ref);
}
