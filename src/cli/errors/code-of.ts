// Maps an error to its code in the catalogue.
import { CommandFailed } from '../exit.ts';
import { ApiError } from '../../kube/errors.ts';
import { isErrorCode } from './catalogue.ts';
import type { ErrorCode } from './catalogue.ts';

/** Error classes of other rooms, by name. */
const BY_NAME: Readonly<Record<string, ErrorCode>> = {
  NoClusterConfigured: 'NoCluster',
  LeadershipLost: 'LeaseLost',
  DataDirectoryInUse: 'InvalidDataDirectory',
  DataDirectoryUnusable: 'InvalidDataDirectory',
};

/** Errors of Node, by code. */
const BY_ERRNO: Readonly<Record<string, ErrorCode>> = { EADDRINUSE: 'PortInUse' };

/** Reasons of the API server for which our catalogue has another code. */
const BY_REASON: Readonly<Record<string, ErrorCode>> = { Gone: 'Expired', ServerTimeout: 'Timeout' };

/** The code of an error. */
export function codeOf(error: unknown): string {
  if (error instanceof CommandFailed) return error.code ?? 'Unexpected';
  if (error instanceof ApiError) return isDenied(error) ? 'DeniedByWebhook' : ofReason(error.reason);
  const { name = '', code = '' } = (error ?? {}) as { readonly name?: string; readonly code?: unknown };
  return BY_NAME[name] ?? BY_ERRNO[String(code)] ?? 'Unexpected';
}

/** The API server reports a denial by a webhook as Forbidden, although it need not be about permissions. */
function isDenied({ reason, status }: ApiError): boolean {
  return reason === 'Forbidden' && /^admission webhook "[^"]*" denied the request/.test(status?.message ?? '');
}

function ofReason(reason: string): ErrorCode {
  return BY_REASON[reason] ?? (isErrorCode(reason) ? reason : 'ServerRefused');
}
