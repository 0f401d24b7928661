// Applies environments as people write them, also dry. Called by create and apply.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Client } from '../../kube/client/client.ts';
import { isConflict, isNotFound, wordsOf } from '../../kube/errors.ts';
import type { ApiError } from '../../kube/errors.ts';
import { CommandFailed, EXIT } from '../exit.ts';
import { unknownKind } from '../objects/find.ts';

export const FIELD_MANAGER = 'offshoot-cli';

export interface Applying {
  /** Only ask what that would give. */
  readonly dryRun: boolean;
  /** Take over fields that somebody else has set, as who used kubectl before. */
  readonly force: boolean;
}

/** Applies an environment, and returns it as the server stores it. */
export async function applyEnvironment(
  client: Client,
  env: DynamicEnv,
  { dryRun, force }: Applying,
): Promise<DynamicEnv> {
  const patch = { type: 'apply', body: env, force } as const;
  try {
    return await client.patch(DynamicEnv, env.metadata, patch, {
      fieldManager: FIELD_MANAGER,
      fieldValidation: 'Strict',
      dryRun,
    });
  } catch (error) {
    if (isNotFound(error) && error.details?.kind !== 'namespaces') throw unknownKind(DynamicEnv);
    if (!isConflict(error)) throw error;
    // What set-image wrote is our own.
    if (!force && isWithOurselves(error)) return applyEnvironment(client, env, { dryRun, force: true });
    throw new FieldConflict(wordsOf(error));
  }
}

/** Somebody else has set fields of an environment to something else. */
export class FieldConflict extends CommandFailed {
  /** `conflict with "kubectl": .spec.subsets` */
  readonly conflict: string;

  constructor(conflict: string) {
    super(EXIT.error, `${conflict}\n--force-conflicts takes over these fields`, 'Conflict');
    this.conflict = conflict;
  }
}

function isWithOurselves({ details }: ApiError): boolean {
  const causes = details?.causes ?? [];
  return causes.length > 0 && causes.every(({ message }) => message?.startsWith(`conflict with "${FIELD_MANAGER}"`));
}
