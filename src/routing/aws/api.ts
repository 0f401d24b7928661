// The few calls of the App Mesh API that are needed, one shape for all types of resources. The SDK is behind it, or a fake.
import type { ResourceType } from '../reconcile/resources.ts';

/** What has a spec: all but the mesh. */
export type PartType = Exclude<ResourceType, 'mesh'>;

/** Names a resource of a mesh. */
export interface PartRef {
  readonly type: PartType;
  readonly name: string;
  /** Of a route: the name of its router. */
  readonly router?: string;
}

export type Tags = Readonly<Record<string, string>>;

/** A resource as AWS has it. */
export interface Described {
  readonly arn: string;
  readonly spec: object;
}

export interface AppMeshApi {
  /** The mesh, if it is there. */
  mesh(meshName: string): Promise<{ readonly arn: string } | undefined>;
  /** All meshes of the account, page after page. */
  meshes(): Promise<readonly { readonly name: string; readonly arn: string }[]>;
  createMesh(meshName: string, tags: Tags): Promise<void>;
  deleteMesh(meshName: string): Promise<void>;
  /** All resources of a type, page after page; routes of one router. */
  list(meshName: string, type: PartType, router?: string): Promise<readonly (PartRef & { readonly arn: string })[]>;
  describe(meshName: string, ref: PartRef): Promise<Described>;
  tags(arn: string): Promise<Tags>;
  /** Answers with the resource as it was made. */
  create(meshName: string, ref: PartRef, spec: object, tags: Tags): Promise<Described>;
  update(meshName: string, ref: PartRef, spec: object): Promise<Described>;
  tag(arn: string, tags: Tags): Promise<void>;
  delete(meshName: string, ref: PartRef): Promise<void>;
}

/** What an error of AWS means for us. */
export type Meaning = 'absent' | 'exists' | 'in use' | 'transient' | 'refused';

const MEANINGS: Readonly<Record<string, Meaning>> = {
  NotFoundException: 'absent',
  ConflictException: 'exists',
  ResourceInUseException: 'in use',
  TooManyRequestsException: 'transient',
  ServiceUnavailableException: 'transient',
  InternalServerErrorException: 'transient',
  TimeoutError: 'transient',
  RequestTimeout: 'transient',
};

export function meaningOf(error: unknown): Meaning {
  const {
    name = '',
    $metadata,
    code,
  } = error as {
    name?: string;
    code?: string;
    $metadata?: { httpStatusCode?: number };
  };
  const known = MEANINGS[name];
  if (known !== undefined) return known;
  const status = $metadata?.httpStatusCode;
  // Without an answer there may be one the next time.
  if (typeof code === 'string' && status === undefined) return 'transient';
  return status !== undefined && (status >= 500 || status === 429) ? 'transient' : 'refused';
}
