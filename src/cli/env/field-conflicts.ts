// What a plan foretells of `offshoot env create -f` and `apply -f`: they leave alone what somebody else has set, where
// `kubectl apply`, which a plan goes by, does not.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Client } from '../../kube/client/client.ts';
import { keyOf } from '../../kube/objects.ts';
import type { TypedObject } from '../manifests/checked.ts';
import type { Paint } from '../terminal/colour.ts';
import { applyEnvironment, FieldConflict } from './apply.ts';

/** An environment of `-f` with fields that somebody else has set to something else. */
export interface PlannedFieldConflict {
  /** `namespace/name` */
  readonly environment: string;
  /** In the words of the server: which fields, and who has them. */
  readonly message: string;
}

/** Asks the server by dry runs which environments it would not take without --force-conflicts. */
export async function fieldConflictsOf(
  client: Client,
  written: readonly TypedObject[],
): Promise<readonly PlannedFieldConflict[]> {
  const environments = written.filter(({ kind }) => kind.kind === DynamicEnv.kind).map(({ object }) => object);
  const asked = environments.map(async (env) => {
    try {
      await applyEnvironment(client, env as DynamicEnv, { dryRun: true, force: false });
      return [];
    } catch (error) {
      // Whatever else is wrong with it, the plan says.
      return error instanceof FieldConflict ? [{ environment: keyOf(env.metadata), message: error.conflict }] : [];
    }
  });
  return (await Promise.all(asked)).flat();
}

export function fieldConflictLines(
  { fieldConflicts }: { readonly fieldConflicts: readonly PlannedFieldConflict[] },
  paint: Paint,
): string[] {
  return fieldConflicts.map(
    ({ environment, message }) =>
      `${paint('busy', '!')} offshoot env create -f and apply -f would refuse ${environment} without --force-conflicts: ${message}`,
  );
}
