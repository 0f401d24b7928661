// Errors of requests to the API server. Every failed request rejects with an ApiError.

/** The `Status` object with which the API server explains a failure. */
export interface Status {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: StatusDetails;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[];
  readonly retryAfterSeconds?: number;
}

export interface ApiErrorOptions {
  /** The HTTP status code; 0 when the server gave no answer. */
  readonly code: number;
  readonly reason: string;
  readonly status?: Status;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** A request that failed: rejected by the server (`code` is the HTTP status) or never answered (`code` is 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  /** One CamelCase word: the server's own (`NotFound`, `Conflict` …), or ours for code 0 (`ConnectionRefused`, `Timeout` …). */
  readonly reason: string;
  readonly status: Status | undefined;
  readonly details: StatusDetails | undefined;
  /** How long the server asked us to wait before a retry. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: ApiErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.reason = options.reason;
    this.status = options.status;
    this.details = options.status?.details;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The message of the server, without the request; the message of the error if the server sent none. */
export function serverMessage(error: ApiError): string {
  return error.status?.message || error.message;
}

/** A request in error messages: method and path. */
export interface RequestLine {
  readonly method: string;
  readonly path: string;
}

/** The error for an answer with a failing status code; the body is a Status where the server sent one. */
export function answerError(request: RequestLine, code: number, body: unknown, retryAfter?: string): ApiError {
  const status = isStatus(body) ? body : undefined;
  const reason = status?.reason || (reasons.get(code) ?? 'Unknown');
  const text = status?.message || (typeof body === 'string' ? excerpt(body) : '') || 'the server gave no explanation';
  const retryAfterMs = parseRetryAfter(retryAfter) ?? seconds(status?.details?.retryAfterSeconds);
  return new ApiError(`${request.method} ${request.path}: ${code} ${reason}: ${text}`, {
    code,
    reason,
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** The error for a request that got no answer. */
export function connectionError(request: RequestLine, reason: string, what: string, cause?: unknown): ApiError {
  return new ApiError(`${request.method} ${request.path}: ${what}`, { code: 0, reason, cause });
}

/** The error for a failure in Node's network layer. */
export function networkError(request: RequestLine, host: string, cause: NodeJS.ErrnoException): ApiError {
  // If several addresses of a host were tried, it is an AggregateError with an empty message.
  const text =
    cause instanceof AggregateError ? cause.errors.map((part) => (part as Error).message).join('; ') : cause.message;
  const reason =
    networkReasons.get(cause.code ?? '') ?? (isTlsCode(cause.code) ? 'CertificateRefused' : 'ConnectionLost');
  return connectionError(request, reason, `${networkWords.get(reason) ?? 'no connection to'} ${host}: ${text}`, cause);
}

const networkReasons = new Map([
  ['ECONNREFUSED', 'ConnectionRefused'],
  ['ENOTFOUND', 'HostNotFound'],
  ['EAI_AGAIN', 'HostNotFound'],
  ['ETIMEDOUT', 'Timeout'],
  ['EHOSTUNREACH', 'Unreachable'],
  ['ENETUNREACH', 'Unreachable'],
  ['EPROXY', 'ProxyFailed'],
]);

const networkWords = new Map([
  ['CertificateRefused', 'TLS with'],
  ['ConnectionLost', 'lost the connection to'],
]);

function isTlsCode(code = ''): boolean {
  return /^(CERT_|ERR_TLS_|ERR_SSL_|ERR_OSSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|EPROTO|INVALID_)/.test(
    code,
  );
}

const reasons = new Map([
  [400, 'BadRequest'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [405, 'MethodNotAllowed'],
  [406, 'NotAcceptable'],
  [409, 'Conflict'],
  [410, 'Expired'],
  [413, 'RequestEntityTooLarge'],
  [415, 'UnsupportedMediaType'],
  [422, 'Invalid'],
  [429, 'TooManyRequests'],
  [500, 'InternalError'],
  [503, 'ServiceUnavailable'],
  [504, 'Timeout'],
]);

function isStatus(body: unknown): body is Status {
  return typeof body === 'object' && body !== null && (body as Status).kind === 'Status';
}

function excerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

function seconds(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 ? value * 1000 : undefined;
}

/** A Retry-After header: seconds, or a date. */
function parseRetryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

/** There is no such object (or no such kind). */
export function isNotFound(error: unknown): error is ApiError {
  return hasCode(error, 404);
}

/** The object changed in between, or another field manager owns the field; not that it already exists. */
export function isConflict(error: unknown): error is ApiError {
  return hasCode(error, 409) && error.reason !== 'AlreadyExists';
}

export function isAlreadyExists(error: unknown): error is ApiError {
  return hasCode(error, 409) && error.reason === 'AlreadyExists';
}

/** The resource version or continue token is too old: list again. */
export function isExpired(error: unknown): error is ApiError {
  return hasCode(error, 410);
}

export function isForbidden(error: unknown): error is ApiError {
  return hasCode(error, 403);
}

/** The object breaks its schema or a validation rule. */
export function isInvalid(error: unknown): error is ApiError {
  return hasCode(error, 422);
}

export function isTooManyRequests(error: unknown): error is ApiError {
  return hasCode(error, 429);
}

/** Reasons with code 0 for which a retry would fail in the same way. */
const permanentReasons = new Set(['CertificateRefused', 'ClientClosed', 'CredentialsUnavailable', 'InvalidRequest']);

/** The same request may succeed later: connection failures, too many requests, server errors. */
export function isTransient(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  return error.code === 0 ? !permanentReasons.has(error.reason) : error.code === 429 || error.code >= 500;
}

function hasCode(error: unknown, code: number): error is ApiError {
  return error instanceof ApiError && error.code === code;
}
