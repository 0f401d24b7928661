// Applies environments, also as a dry run. Called by create and apply.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Client } from '../../kube/client/client.ts';
import { isConflict, isNotFound, serverMessage } from '../../kube/errors.ts';
import type { ApiError } from '../../kube/errors.ts';
import { CommandFailed, EXIT } from '../exit.ts';
import { unknownKind } from '../objects/find.ts';

export const FIELD_MANAGER = 'offshoot-cli';

export interface ApplyOptions {
  /** Write nothing; return what the server would store. */
  readonly dryRun: boolean;
  /** Take over fields of other field managers, such as kubectl. */
  readonly force: boolean;
}

/** Applies an environment, and returns it as the server stores it. */
export async function applyEnvironment(
  client: Client,
  env: DynamicEnv,
  { dryRun, force }: ApplyOptions,
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
    // Fields that set-image wrote belong to us too.
    if (!force && isWithOurselves(error)) return applyEnvironment(client, env, { dryRun, force: true });
    throw new FieldConflict(serverMessage(error));
  }
}

/** Another field manager owns fields that would change. */
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
