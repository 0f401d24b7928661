// Plans field conflicts: a plan follows `kubectl apply`, which overwrites fields of other field managers; `offshoot env
// create -f` and `apply -f` do not.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Client } from '../../kube/client/client.ts';
import { keyOf } from '../../kube/objects.ts';
import type { TypedObject } from '../manifests/checked.ts';
import type { Paint } from '../terminal/colour.ts';
import { applyEnvironment, FieldConflict } from './apply.ts';

/** An environment of `-f` with fields that another field manager owns. */
export interface PlannedFieldConflict {
  /** `namespace/name` */
  readonly environment: string;
  /** The server's message: which fields, and which managers own them. */
  readonly message: string;
}

/** Finds by dry runs which environments would be rejected without --force-conflicts. */
export async function fieldConflictsOf(
  client: Client,
  written: readonly TypedObject[],
): Promise<readonly PlannedFieldConflict[]> {
  const environments = written.filter(({ kind }) => kind.kind === DynamicEnv.kind).map(({ object }) => object);
  const conflicts = environments.map(async (env) => {
    try {
      await applyEnvironment(client, env as DynamicEnv, { dryRun: true, force: false });
      return [];
    } catch (error) {
      // The plan itself reports all other errors.
      return error instanceof FieldConflict ? [{ environment: keyOf(env.metadata), message: error.conflict }] : [];
    }
  });
  return (await Promise.all(conflicts)).flat();
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
