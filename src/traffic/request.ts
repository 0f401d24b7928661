// A request, as the proxy of whoever sends it sees it, and how Envoy reads its parts.

type Labels = Readonly<Record<string, string>>;

export interface Request {
  /** As sent: with or without a port. */
  readonly host: string;
  /** The port that is called: of the Service, or of the gateway. */
  readonly port: number;
  /** With the query, if there is one. */
  readonly path: string;
  /** `GET` unless told. */
  readonly method?: string;
  /** `http` unless told. */
  readonly scheme?: string;
  /** By name in lower case; a list for a header that comes more than once. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly source: Source;
}

/** Whose proxy sees the request first: that of a pod in the mesh, or one at the edge. */
export type Source = MeshSource | GatewaySource;

export interface MeshSource {
  readonly namespace: string;
  /** Those of the pod. */
  readonly labels?: Labels;
}

export interface GatewaySource {
  /** `NAMESPACE/NAME` of the Gateway. */
  readonly gateway: string;
  /** The namespace of the gateway's pods: that of the Gateway unless told. */
  readonly namespace?: string;
  /** The labels of the gateway's pods: what the Gateway selects unless told. */
  readonly labels?: Labels;
}

export function isGatewaySource(source: Source): source is GatewaySource {
  return 'gateway' in source;
}

/** The name that a proxy looks up for a Host header: without the port, in lower case. */
export function hostOf(host: string): string {
  return host.replace(/:\d*$/, '').toLowerCase();
}

/** A request as Envoy looks at it: its path without `.` and `..`, and with nothing escaped that need not be. */
export function normalized(request: Request): Request {
  const { pathname, query } = splitPath(request.path);
  if (!/[.\\%]/.test(pathname)) return request;
  const plain = pathname.replaceAll(/%[2-7][\da-f]/gi, unescaped).replaceAll('\\', '/');
  const segments: string[] = [];
  const all = plain.slice(1).split('/');
  for (const [at, segment] of all.entries()) {
    const isDots = segment === '.' || segment === '..';
    if (segment === '..') segments.pop();
    if (!isDots) segments.push(segment);
    else if (at === all.length - 1) segments.push('');
  }
  return { ...request, path: `/${segments.join('/')}${query}` };
}

function unescaped(escape: string): string {
  const letter = decodeURIComponent(escape);
  return /[\w.~-]/.test(letter) ? letter : escape;
}

/** A path without its query, and the query with its `?`. */
export function splitPath(path: string): { readonly pathname: string; readonly query: string } {
  const at = path.indexOf('?');
  return at < 0 ? { pathname: path, query: '' } : { pathname: path.slice(0, at), query: path.slice(at) };
}

/** The first value of a query parameter, as it was sent; undefined if there is none. */
export function queryValue(query: string, name: string): string | undefined {
  for (const pair of query.slice(1).split('&')) {
    const at = pair.indexOf('=');
    if (pair !== '' && (at < 0 ? pair : pair.slice(0, at)) === name) return at < 0 ? '' : pair.slice(at + 1);
  }
  return undefined;
}

const NONE: readonly string[] = [];

/** The values of a header, or of what Envoy keeps as one. */
export function headerValues(request: Request, name: string): readonly string[] {
  switch (name) {
    case ':method':
      return [request.method ?? 'GET'];
    case ':scheme':
      return [request.scheme ?? 'http'];
    case ':path':
      return [request.path];
    case ':authority':
    case 'host':
      return [request.host];
    default: {
      const { headers } = request;
      if (headers === undefined || !Object.hasOwn(headers, name)) return NONE;
      const found = headers[name]!;
      return typeof found === 'string' ? [found] : found;
    }
  }
}
