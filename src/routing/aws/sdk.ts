// The App Mesh API through the AWS SDK, which is an optional package: it is loaded on first use.
import type * as Sdk from '@aws-sdk/client-app-mesh';
import type { AppMeshApi, Described, PartRef, PartType, Tags } from './api.ts';

export interface Access {
  readonly region: string | undefined;
  /** If absent, those of the environment of the process: a role, a profile or variables. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Overrides the address of AWS, for tests. */
  readonly endpoint: string | undefined;
  /** The timeout of a request. */
  readonly timeoutMs?: number;
  /** Called right before a request that changes something is sent; if it throws, the request is not sent. */
  readonly beforeWrite?: () => void;
}

const PACKAGE = '@aws-sdk/client-app-mesh';
/** The maximum page size. */
const PAGE = 100;
const TIMEOUT_MS = 15_000;

/** The SDK is not installed. */
export class SdkMissing extends Error {
  constructor(options: ErrorOptions) {
    super(
      `writing to AWS needs the package ${PACKAGE}: install it beside Offshoot ("npm install -g ${PACKAGE}"), or use the back end appmesh-crd`,
      options,
    );
  }
}

/** Connects to AWS. Throws `SdkMissing`. */
export async function connectAppMesh(
  { region, credentials, endpoint, timeoutMs = TIMEOUT_MS, beforeWrite }: Access,
  load: (name: string) => Promise<unknown> = (name) => import(name),
): Promise<AppMeshApi & { close(): void }> {
  let sdk: typeof Sdk;
  try {
    sdk = (await load(PACKAGE)) as typeof Sdk;
  } catch (error) {
    throw new SdkMissing({ cause: error });
  }
  const client = new sdk.AppMeshClient({
    ...(region !== undefined && { region }),
    ...(credentials && { credentials }),
    ...(endpoint !== undefined && { endpoint }),
    // The caller does the retries.
    maxAttempts: 1,
    requestHandler: { connectionTimeout: timeoutMs, requestTimeout: timeoutMs, throwOnRequestTimeout: true },
  });
  if (beforeWrite !== undefined) {
    client.middlewareStack.add(
      (next, { commandName = '' }) =>
        (args) => {
          if (!/^(Describe|List)/.test(commandName)) beforeWrite();
          return next(args);
        },
      // The last step: credentials have been fetched, and the request is signed.
      { step: 'deserialize', priority: 'low' },
    );
  }
  return { ...overClient(sdk, client), close: () => client.destroy() };
}

type Answer = Readonly<Record<string, unknown>>;
type Call = (input: Answer) => Promise<Answer>;

/** The calls for a resource type, the field of its list that holds the items, and the field of its response. */
interface PartCalls {
  readonly name: string;
  readonly items: string;
  readonly create: Call;
  readonly update: Call;
  readonly describe: Call;
  readonly delete: Call;
  readonly list: Call;
}

function overClient(sdk: typeof Sdk, client: Sdk.AppMeshClient): AppMeshApi {
  // The inputs of all commands differ in one field only, which the types of the SDK cannot express.
  const call =
    (Command: new (input: never) => object): Call =>
    (input) =>
      client.send(new Command(input as never) as never) as unknown as Promise<Answer>;
  const parts: Readonly<Record<PartType, PartCalls>> = {
    virtualNode: {
      name: 'virtualNode',
      items: 'virtualNodes',
      create: call(sdk.CreateVirtualNodeCommand),
      update: call(sdk.UpdateVirtualNodeCommand),
      describe: call(sdk.DescribeVirtualNodeCommand),
      delete: call(sdk.DeleteVirtualNodeCommand),
      list: call(sdk.ListVirtualNodesCommand),
    },
    virtualRouter: {
      name: 'virtualRouter',
      items: 'virtualRouters',
      create: call(sdk.CreateVirtualRouterCommand),
      update: call(sdk.UpdateVirtualRouterCommand),
      describe: call(sdk.DescribeVirtualRouterCommand),
      delete: call(sdk.DeleteVirtualRouterCommand),
      list: call(sdk.ListVirtualRoutersCommand),
    },
    route: {
      name: 'route',
      items: 'routes',
      create: call(sdk.CreateRouteCommand),
      update: call(sdk.UpdateRouteCommand),
      describe: call(sdk.DescribeRouteCommand),
      delete: call(sdk.DeleteRouteCommand),
      list: call(sdk.ListRoutesCommand),
    },
    virtualService: {
      name: 'virtualService',
      items: 'virtualServices',
      create: call(sdk.CreateVirtualServiceCommand),
      update: call(sdk.UpdateVirtualServiceCommand),
      describe: call(sdk.DescribeVirtualServiceCommand),
      delete: call(sdk.DeleteVirtualServiceCommand),
      list: call(sdk.ListVirtualServicesCommand),
    },
  };
  const inputOf = (meshName: string, { type, name, router }: PartRef): Answer => ({
    meshName,
    [`${type}Name`]: name,
    ...(router !== undefined && { virtualRouterName: router }),
  });
  const described = (answer: Answer, { name }: PartCalls): Described => {
    const { metadata, spec } = answer[name] as { metadata: { arn: string }; spec: object };
    return { arn: metadata.arn, spec };
  };
  const createMesh = call(sdk.CreateMeshCommand);
  const describeMesh = call(sdk.DescribeMeshCommand);
  const deleteMesh = call(sdk.DeleteMeshCommand);
  const listMeshes = call(sdk.ListMeshesCommand);
  const listTags = call(sdk.ListTagsForResourceCommand);
  const tagResource = call(sdk.TagResourceCommand);
  return {
    async mesh(meshName) {
      try {
        const { mesh } = (await describeMesh({ meshName })) as { mesh: { metadata: { arn: string } } };
        return { arn: mesh.metadata.arn };
      } catch (error) {
        if ((error as Error).name === 'NotFoundException') return undefined;
        throw error;
      }
    },
    meshes: () =>
      pages(async (nextToken) => {
        const answer = await listMeshes({ limit: PAGE, ...(nextToken !== undefined && { nextToken }) });
        const found = (answer['meshes'] ?? []) as readonly { meshName: string; arn: string }[];
        return {
          items: found.map(({ meshName, arn }) => ({ name: meshName, arn })),
          nextToken: answer['nextToken'] as string | undefined,
        };
      }),
    createMesh: async (meshName, tags) => void (await createMesh({ meshName, tags: tagList(tags) })),
    deleteMesh: async (meshName) => void (await deleteMesh({ meshName })),
    async list(meshName, type, router) {
      const { list, items } = parts[type];
      const input = { meshName, limit: PAGE, ...(router !== undefined && { virtualRouterName: router }) };
      return pages(async (nextToken) => {
        const answer = await list({ ...input, ...(nextToken !== undefined && { nextToken }) });
        const found = (answer[items] ?? []) as readonly Readonly<Record<string, string>>[];
        return {
          items: found.map((each) => ({
            type,
            name: each[`${type}Name`]!,
            arn: each['arn']!,
            ...(router !== undefined && { router }),
          })),
          nextToken: answer['nextToken'] as string | undefined,
        };
      });
    },
    describe: async (meshName, ref) =>
      described(await parts[ref.type].describe(inputOf(meshName, ref)), parts[ref.type]),
    async tags(arn) {
      const all = await pages(async (nextToken) => {
        const answer = await listTags({ resourceArn: arn, ...(nextToken !== undefined && { nextToken }) });
        const items = (answer['tags'] ?? []) as readonly { key: string; value: string }[];
        return { items, nextToken: answer['nextToken'] as string | undefined };
      });
      return Object.fromEntries(all.map(({ key, value }) => [key, value]));
    },
    create: async (meshName, ref, spec, tags) =>
      described(
        await parts[ref.type].create({ ...inputOf(meshName, ref), spec, tags: tagList(tags) }),
        parts[ref.type],
      ),
    update: async (meshName, ref, spec) =>
      described(await parts[ref.type].update({ ...inputOf(meshName, ref), spec }), parts[ref.type]),
    tag: async (arn, tags) => void (await tagResource({ resourceArn: arn, tags: tagList(tags) })),
    delete: async (meshName, ref) => void (await parts[ref.type].delete(inputOf(meshName, ref))),
  };
}

function tagList(tags: Tags): readonly { key: string; value: string }[] {
  return Object.entries(tags).map(([key, value]) => ({ key, value }));
}

/** The items of all pages. */
async function pages<T>(
  page: (
    nextToken: string | undefined,
  ) => Promise<{ readonly items: readonly T[]; readonly nextToken?: string | undefined }>,
): Promise<readonly T[]> {
  const all: T[] = [];
  let token: string | undefined;
  do {
    const { items, nextToken } = await page(token);
    all.push(...items);
    token = nextToken;
  } while (token !== undefined);
  return all;
}
