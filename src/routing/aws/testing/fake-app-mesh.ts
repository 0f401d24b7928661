// A fake AWS App Mesh: a local server with its REST protocol, its rules about dependencies between resources, and fault
// injection. For tests of the writer, which use the real AWS client.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Stored {
  readonly kind: Kind;
  readonly mesh: string;
  readonly name: string;
  readonly router: string | undefined;
  spec: Spec;
  readonly tags: Map<string, string>;
  version: number;
}

interface Spec {
  readonly provider?: {
    readonly virtualRouter?: { readonly virtualRouterName: string };
    readonly virtualNode?: { readonly virtualNodeName: string };
  };
  readonly httpRoute?: {
    readonly action: { readonly weightedTargets: readonly { readonly virtualNode: string }[] };
  };
}

type Kind = 'mesh' | 'virtualNode' | 'virtualRouter' | 'route' | 'virtualService';

const KINDS: Readonly<Record<string, Kind>> = {
  meshes: 'mesh',
  virtualNodes: 'virtualNode',
  virtualRouters: 'virtualRouter',
  routes: 'route',
  virtualServices: 'virtualService',
};

/** A call to the API: `create virtualNode cart`. */
export interface ApiCall {
  readonly verb: 'create' | 'update' | 'delete' | 'describe' | 'list' | 'tags' | 'tag';
  readonly kind: Kind;
  readonly name: string;
}

/** A fault: an error response, a connection that is closed before or after the request is executed, or no response. */
export type Fault =
  | { readonly status: number; readonly type: string }
  | 'lost answer'
  | 'dead connection'
  | 'silence'
  | undefined;

class Refused extends Error {
  readonly status: number;
  readonly type: string;
  constructor(status: number, type: string, message: string) {
    super(message);
    this.status = status;
    this.type = type;
  }
}

const notFound = (what: string): Refused => new Refused(404, 'NotFoundException', `${what} does not exist`);
const inUse = (what: string, by: string): Refused =>
  new Refused(409, 'ResourceInUseException', `${what} is in use by ${by}`);

export interface FakeOptions {
  /** The page size of lists. */
  readonly page?: number;
  readonly fault?: (asked: ApiCall) => Fault;
  /** Changes a spec as the service stores it. */
  readonly fill?: (spec: object) => object;
  /** How many lists and descriptions do not show a new resource yet. */
  readonly lag?: number;
}

export class FakeAppMesh {
  readonly #stored = new Map<string, Stored>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  /** Resources that lists do not show yet, and for how many more requests. */
  readonly #hidden = new Map<string, number>();
  /** All calls, in order. */
  readonly asked: ApiCall[] = [];
  options: FakeOptions;

  constructor(options: FakeOptions = {}) {
    this.options = options;
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The calls that changed something, as lines. */
  get writes(): string[] {
    return this.asked
      .filter(({ verb }) => verb === 'create' || verb === 'update' || verb === 'delete')
      .map(({ verb, kind, name }) => `${verb} ${kind} ${name}`);
  }

  /** The specs of all resources of a mesh, by kind and name. */
  state(mesh: string): Readonly<Record<string, Spec>> {
    const parts = [...this.#stored.values()]
      .filter((each) => each.mesh === mesh && each.kind !== 'mesh')
      .sort((a, b) => (titleOf(a) < titleOf(b) ? -1 : 1));
    return Object.fromEntries(parts.map((each) => [titleOf(each), each.spec]));
  }

  has(mesh: string): boolean {
    return this.#stored.has(arnOf({ kind: 'mesh', mesh, name: mesh, router: undefined }));
  }

  tagsOf(kind: Kind, mesh: string, name: string, router?: string): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#stored.get(arnOf({ kind, mesh, name, router }))?.tags ?? []);
  }

  /** Creates a resource that somebody else owns. */
  put(kind: Kind, mesh: string, name: string, spec: object = {}, router?: string): void {
    const stored = { kind, mesh, name, router, spec, tags: new Map(), version: 1 };
    this.#stored.set(arnOf(stored), stored);
  }

  /** Deletes a resource behind the back of the writer. */
  remove(kind: Kind, mesh: string, name: string, router?: string): void {
    this.#stored.delete(arnOf({ kind, mesh, name, router }));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const url = new URL(request.url!, 'http://app-mesh');
    try {
      const { asked, run } = this.#route(request.method!, url, text === '' ? {} : (JSON.parse(text) as Body));
      this.asked.push(asked);
      const fault = this.options.fault?.(asked);
      if (fault === 'dead connection') return void request.socket.destroy();
      if (fault === 'silence') return;
      if (typeof fault === 'object') throw new Refused(fault.status, fault.type, 'a fault of the test');
      const answer = run();
      if (fault === 'lost answer') return void request.socket.destroy();
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    } catch (error) {
      const { status, type, message } =
        error instanceof Refused ? error : new Refused(500, 'InternalServerErrorException', String(error));
      response
        .writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': type })
        .end(JSON.stringify({ message }));
    }
  }

  #route(method: string, url: URL, body: Body): { asked: ApiCall; run: () => object } {
    const [, version, ...parts] = url.pathname.split('/').map(decodeURIComponent);
    if (version !== 'v20190125') throw new Refused(404, 'UnknownOperationException', url.pathname);
    if (parts[0] === 'tags' || parts[0] === 'tag') return this.#routeTags(parts[0], url, body);
    if (parts.length <= 2)
      return this.#routeOf('mesh', method, url, body, parts[1], parts[1] ?? body.meshName!, undefined);
    const [, mesh = '', collection = ''] = parts;
    // The path of a route has its router in the singular.
    if (collection === 'virtualRouter') {
      const [, , , router, , name] = parts;
      return this.#routeOf('route', method, url, body, name, mesh, router);
    }
    return this.#routeOf(KINDS[collection]!, method, url, body, parts[3], mesh, undefined);
  }

  #routeOf(
    kind: Kind,
    method: string,
    url: URL,
    body: Body,
    name: string | undefined,
    mesh: string,
    router: string | undefined,
  ): { asked: ApiCall; run: () => object } {
    if (name === undefined && method === 'GET') {
      return { asked: { verb: 'list', kind, name: router ?? mesh }, run: () => this.#list(kind, mesh, router, url) };
    }
    const resourceName = name ?? (body[`${kind}Name`] as string);
    const ref = { kind, mesh, name: resourceName, router };
    if (name === undefined)
      return { asked: { verb: 'create', kind, name: resourceName }, run: () => this.#create(ref, body) };
    const verb = method === 'GET' ? 'describe' : method === 'PUT' ? 'update' : 'delete';
    const run = {
      describe: () => this.#describe(ref),
      update: () => this.#update(ref, body),
      delete: () => this.#delete(ref),
    };
    return { asked: { verb, kind, name }, run: run[verb] };
  }

  #routeTags(word: 'tags' | 'tag', url: URL, body: Body): { asked: ApiCall; run: () => object } {
    const stored = this.#stored.get(url.searchParams.get('resourceArn')!);
    const { kind = 'mesh', name = '?' } = stored ?? {};
    const run = (): object => {
      if (stored === undefined) throw notFound(String(url.searchParams.get('resourceArn')));
      if (word === 'tags') return { tags: [...stored.tags].map(([key, value]) => ({ key, value })) };
      for (const { key, value } of body.tags ?? []) stored.tags.set(key, value);
      return {};
    };
    return { asked: { verb: word, kind, name }, run };
  }

  #list(kind: Kind, mesh: string, router: string | undefined, url: URL): object {
    if (kind !== 'mesh') this.#require('mesh', mesh, mesh);
    if (kind === 'route') this.#require('virtualRouter', mesh, router!);
    const all = [...this.#stored.values()]
      .filter((each) => each.kind === kind && (kind === 'mesh' || each.mesh === mesh) && each.router === router)
      .filter((each) => this.#isShown(each))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const start = Number(url.searchParams.get('nextToken') ?? 0);
    const end = start + (this.options.page ?? 100);
    const items = all
      .slice(start, end)
      .map((each) => ({ [`${kind}Name`]: each.name, arn: arnOf(each), meshName: each.mesh }));
    const plural = kind === 'mesh' ? 'meshes' : `${kind}s`;
    return { [plural]: items, ...(end < all.length && { nextToken: String(end) }) };
  }

  #create(ref: Ref, body: Body): object {
    if (this.#stored.has(arnOf(ref))) throw new Refused(409, 'ConflictException', `${titleOf(ref)} exists`);
    if (ref.kind !== 'mesh') this.#require('mesh', ref.mesh, ref.mesh);
    const spec = this.#filled(body);
    this.#check(ref, spec);
    const tags = new Map((body.tags ?? []).map(({ key, value }) => [key, value]));
    const stored: Stored = { ...ref, spec, tags, version: 1 };
    this.#stored.set(arnOf(ref), stored);
    if (this.options.lag !== undefined) this.#hidden.set(arnOf(ref), this.options.lag);
    return dataOf(stored);
  }

  #update(ref: Ref, body: Body): object {
    const stored = this.#get(ref);
    const spec = this.#filled(body);
    this.#check(ref, spec);
    stored.spec = spec;
    stored.version++;
    return dataOf(stored);
  }

  #describe(ref: Ref): object {
    const stored = this.#get(ref);
    if (!this.#isShown(stored)) throw notFound(titleOf(ref));
    return dataOf(stored);
  }

  #delete(ref: Ref): object {
    const stored = this.#get(ref);
    const others = [...this.#stored.values()].filter((each) => each.mesh === ref.mesh && each !== stored);
    const user = others.find((each) => uses(each, ref));
    if (user !== undefined) throw inUse(titleOf(ref), titleOf(user));
    this.#stored.delete(arnOf(ref));
    return dataOf(stored);
  }

  /** Everything that a resource refers to must exist, except backends. */
  #check({ kind, mesh, router }: Ref, { provider, httpRoute }: Spec): void {
    if (kind === 'route') this.#require('virtualRouter', mesh, router!);
    for (const { virtualNode } of httpRoute?.action.weightedTargets ?? [])
      this.#require('virtualNode', mesh, virtualNode);
    if (provider?.virtualRouter) this.#require('virtualRouter', mesh, provider.virtualRouter.virtualRouterName);
    if (provider?.virtualNode) this.#require('virtualNode', mesh, provider.virtualNode.virtualNodeName);
  }

  #filled({ spec = {} }: Body): Spec {
    return this.options.fill?.(spec) ?? spec;
  }

  #require(kind: Kind, mesh: string, name: string): void {
    this.#get({ kind, mesh, name, router: undefined });
  }

  #get(ref: Ref): Stored {
    const stored = this.#stored.get(arnOf(ref));
    if (stored === undefined) throw notFound(titleOf(ref));
    return stored;
  }

  #isShown(stored: Stored): boolean {
    const left = this.#hidden.get(arnOf(stored)) ?? 0;
    if (left > 0) this.#hidden.set(arnOf(stored), left - 1);
    return left === 0;
  }
}

type Ref = Pick<Stored, 'kind' | 'mesh' | 'name' | 'router'>;

interface Body {
  readonly meshName?: string;
  readonly spec?: object;
  readonly tags?: readonly { readonly key: string; readonly value: string }[];
  readonly [field: string]: unknown;
}

/** Whether a resource prevents the deletion of another one. */
function uses({ kind, spec, router }: Stored, of: Ref): boolean {
  switch (of.kind) {
    case 'mesh':
      return kind !== 'mesh';
    case 'virtualRouter':
      return (kind === 'route' && router === of.name) || spec.provider?.virtualRouter?.virtualRouterName === of.name;
    case 'virtualNode':
      return (
        spec.provider?.virtualNode?.virtualNodeName === of.name ||
        (spec.httpRoute?.action.weightedTargets ?? []).some(({ virtualNode }) => virtualNode === of.name)
      );
    case 'route':
    case 'virtualService':
      return false;
  }
}

function arnOf({ kind, mesh, name, router }: Ref): string {
  const place =
    kind === 'mesh' ? '' : router === undefined ? `/${kind}/${name}` : `/virtualRouter/${router}/route/${name}`;
  return `arn:aws:appmesh:eu-central-1:123456789012:mesh/${mesh}${place}`;
}

function titleOf({ kind, name, router }: Ref): string {
  return `${kind} ${router === undefined ? '' : `${router}/`}${name}`;
}

function dataOf(stored: Stored): object {
  const { kind, mesh, name, router, spec, version } = stored;
  return {
    meshName: mesh,
    [`${kind}Name`]: name,
    ...(router !== undefined && { virtualRouterName: router }),
    metadata: {
      arn: arnOf(stored),
      version,
      uid: 'u',
      createdAt: 1,
      lastUpdatedAt: 1,
      meshOwner: '1',
      resourceOwner: '1',
    },
    spec,
    status: { status: 'ACTIVE' },
  };
}
