// The calls of the App Mesh API that are needed, in one form for all resource types.
import type { ResourceType } from '../reconcile/resources.ts';

/** The resource types with a spec: all except the mesh. */
export type PartType = Exclude<ResourceType, 'mesh'>;

/** Names a resource of a mesh. */
export interface PartRef {
  readonly type: PartType;
  readonly name: string;
  /** For a route: the name of its router. */
  readonly router?: string;
}

export type Tags = Readonly<Record<string, string>>;

/** A resource as AWS returns it. */
export interface Described {
  readonly arn: string;
  readonly spec: object;
}

export interface AppMeshApi {
  /** The mesh, if it exists. */
  mesh(meshName: string): Promise<{ readonly arn: string } | undefined>;
  /** All meshes of the account, from all pages. */
  meshes(): Promise<readonly { readonly name: string; readonly arn: string }[]>;
  createMesh(meshName: string, tags: Tags): Promise<void>;
  deleteMesh(meshName: string): Promise<void>;
  /** All resources of a type, from all pages; for routes, those of one router. */
  list(meshName: string, type: PartType, router?: string): Promise<readonly (PartRef & { readonly arn: string })[]>;
  describe(meshName: string, ref: PartRef): Promise<Described>;
  tags(arn: string): Promise<Tags>;
  /** Returns the resource as AWS created it. */
  create(meshName: string, ref: PartRef, spec: object, tags: Tags): Promise<Described>;
  update(meshName: string, ref: PartRef, spec: object): Promise<Described>;
  tag(arn: string, tags: Tags): Promise<void>;
  delete(meshName: string, ref: PartRef): Promise<void>;
}

/** How to handle an error of AWS. */
export type ErrorKind = 'absent' | 'exists' | 'in use' | 'transient' | 'refused';

const ERROR_KINDS: Readonly<Record<string, ErrorKind>> = {
  NotFoundException: 'absent',
  ConflictException: 'exists',
  ResourceInUseException: 'in use',
  TooManyRequestsException: 'transient',
  ServiceUnavailableException: 'transient',
  InternalServerErrorException: 'transient',
  TimeoutError: 'transient',
  RequestTimeout: 'transient',
};

export function errorKindOf(error: unknown): ErrorKind {
  const {
    name = '',
    $metadata,
    code,
  } = error as {
    name?: string;
    code?: string;
    $metadata?: { httpStatusCode?: number };
  };
  const known = ERROR_KINDS[name];
  if (known !== undefined) return known;
  const status = $metadata?.httpStatusCode;
  // A network error, without a response: worth a retry.
  if (typeof code === 'string' && status === undefined) return 'transient';
  return status !== undefined && (status >= 500 || status === 429) ? 'transient' : 'refused';
}
