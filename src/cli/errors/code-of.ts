// Which code of the catalogue an error has: its own, or that of what went wrong in another room.
import { CommandFailed } from '../exit.ts';
import { ApiError } from '../../kube/errors.ts';
import { isErrorCode } from './catalogue.ts';
import type { ErrorCode } from './catalogue.ts';

/** Errors of other rooms, by the name of their class. */
const BY_NAME: Readonly<Record<string, ErrorCode>> = {
  NoClusterConfigured: 'NoCluster',
  LeadershipLost: 'LeaseLost',
  DataDirectoryInUse: 'InvalidDataDirectory',
  DataDirectoryUnusable: 'InvalidDataDirectory',
};

/** Errors of Node, by their code. */
const BY_ERRNO: Readonly<Record<string, ErrorCode>> = { EADDRINUSE: 'PortInUse' };

/** Reasons that the API server has for what we call otherwise, or that no user can do anything about. */
const BY_REASON: Readonly<Record<string, ErrorCode>> = { Gone: 'Expired', ServerTimeout: 'Timeout' };

/** The code of an error; a command that failed without a message has none. */
export function codeOf(error: unknown): string {
  if (error instanceof CommandFailed) return error.code ?? 'Unexpected';
  if (error instanceof ApiError) return isDenied(error) ? 'DeniedByWebhook' : ofReason(error.reason);
  const { name = '', code = '' } = (error ?? {}) as { readonly name?: string; readonly code?: unknown };
  return BY_NAME[name] ?? BY_ERRNO[String(code)] ?? 'Unexpected';
}

/** The server passes on what a webhook says as if it were about rights, which it need not be. */
function isDenied({ reason, status }: ApiError): boolean {
  return reason === 'Forbidden' && /^admission webhook "[^"]*" denied the request/.test(status?.message ?? '');
}

function ofReason(reason: string): ErrorCode {
  return BY_REASON[reason] ?? (isErrorCode(reason) ? reason : 'ServerRefused');
}
