// API errors: each is a Kubernetes Status with the messages of the real API server. Thrown by the verbs and turned into
// responses by handler.ts.
import type { Resource } from '../resource.ts';
import { causeReason, errorBody, errorsText } from '../schema/field-error.ts';
import type { FieldError } from '../schema/field-error.ts';

interface StatusCause {
  readonly reason?: string;
  readonly message: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The `v1` Status object. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly continue?: string };
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** An error that is returned to the client as a Status. */
export class Fault extends Error {
  readonly status: Status;

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message);
    this.name = 'Fault';
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason !== '' && { reason }),
      ...(details !== undefined && { details }),
      code,
    };
  }

  get code(): number {
    return this.status.code ?? 500;
  }
}

type Named = Pick<Resource, 'group' | 'plural' | 'kind'>;

/** `deployments.apps`, or `pods` in the core group. */
function qualified(resource: Named): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

function detailsOf(resource: Named, name: string): StatusDetails {
  return {
    ...(name !== '' && { name }),
    ...(resource.group !== '' && { group: resource.group }),
    kind: resource.plural,
  };
}

export function notFound(resource: Named, name: string): Fault {
  return new Fault(404, 'NotFound', `${qualified(resource)} "${name}" not found`, detailsOf(resource, name));
}

/** The path is not served. */
export function noSuchPath(): Fault {
  return new Fault(404, 'NotFound', 'the server could not find the requested resource', {});
}

export function alreadyExists(resource: Named, name: string, deletionTimestamp?: string): Fault {
  const deleting = deletionTimestamp === undefined ? '' : 'object is being deleted: ';
  const message = `${deleting}${qualified(resource)} "${name}" already exists`;
  return new Fault(409, 'AlreadyExists', message, detailsOf(resource, name));
}

/** The same for an object with generateName: the client may retry. */
export function notGenerated({ status, message }: Fault): Fault {
  const text = `${message}, the server was not able to generate a unique name for the object`;
  return new Fault(409, 'AlreadyExists', text, { ...status.details, retryAfterSeconds: 1 });
}

/** A custom resource or its subresource does not support this verb. */
export function notSupported(resource: Named, verb: string): Fault {
  const message = `${verb} is not supported on resources of kind "${qualified(resource)}"`;
  return new Fault(405, 'MethodNotAllowed', message, detailsOf(resource, ''));
}

export function conflict(resource: Named, name: string, why: string): Fault {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`;
  return new Fault(409, 'Conflict', message, detailsOf(resource, name));
}

/** The options of a request, in its query or body, are invalid. */
export function invalidOptions(
  kind: 'ListOptions' | 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions',
  error: FieldError,
): Fault {
  return invalid({ group: 'meta.k8s.io', kind }, '', [error]);
}

/** The object has changed since the client read it. */
export function modified(resource: Named, name: string): Fault {
  const why = 'the object has been modified; please apply your changes to the latest version and try again';
  return conflict(resource, name, why);
}

export function badRequest(message: string): Fault {
  return new Fault(400, 'BadRequest', message);
}

export function unauthorized(): Fault {
  return new Fault(401, 'Unauthorized', 'Unauthorized');
}

export function forbidden(resource: Named, name: string, why: string): Fault {
  const subject = name === '' ? qualified(resource) : `${qualified(resource)} "${name}"`;
  return new Fault(403, 'Forbidden', `${subject} is forbidden: ${why}`, detailsOf(resource, name));
}

export function methodNotAllowed(): Fault {
  const message = 'the server does not allow this method on the requested resource';
  return new Fault(405, 'MethodNotAllowed', message, {});
}

export function invalid(
  resource: Pick<Resource, 'group' | 'kind'>,
  name: string,
  errors: readonly FieldError[],
): Fault {
  const causes = errors.map((error) => ({ reason: causeReason(error), message: errorBody(error), field: error.field }));
  const kind = resource.group === '' ? resource.kind : `${resource.kind}.${resource.group}`;
  const group = resource.group === '' ? {} : { group: resource.group };
  const message = `${kind} "${name}" is invalid: ${errorsText(errors)}`;
  const known = { ...(name !== '' && { name }), ...group, ...(resource.kind !== '' && { kind: resource.kind }) };
  return new Fault(422, 'Invalid', message, { ...known, causes });
}

export function expired(message: string): Fault {
  return new Fault(410, 'Expired', message);
}

export function tooLarge(limit: number): Fault {
  return new Fault(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`);
}

/** A patch in a format that no kind supports. */
export function unsupportedPatchType(): Fault {
  return new Fault(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}

export function unsupportedMediaType(accepted: readonly string[]): Fault {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return new Fault(415, 'UnsupportedMediaType', message);
}

export function notAcceptable(served: readonly string[]): Fault {
  const message = `only the following media types are accepted: ${served.join(', ')}`;
  return new Fault(406, 'NotAcceptable', message);
}

export function internal(message: string): Fault {
  return new Fault(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}

/** The Status of a completed deletion. */
export function success(resource: Named, name: string, uid: string | undefined): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...detailsOf(resource, name), ...(uid !== undefined && { uid }) },
  };
}
