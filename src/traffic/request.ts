// A request as the proxy of its sender sees it, and how Envoy reads its parts.

type Labels = Readonly<Record<string, string>>;

export interface Request {
  /** As sent: with or without a port. */
  readonly host: string;
  /** The port of the Service or of the gateway that is called. */
  readonly port: number;
  /** With the query, if there is one. */
  readonly path: string;
  /** Defaults to `GET`. */
  readonly method?: string;
  /** Defaults to `http`. */
  readonly scheme?: string;
  /** By name in lower case; a list for a repeated header. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly source: Source;
}

/** The proxy that handles the request first: the sidecar of a pod in the mesh, or a gateway. */
export type Source = MeshSource | GatewaySource;

export interface MeshSource {
  readonly namespace: string;
  /** The labels of the pod. */
  readonly labels?: Labels;
}

export interface GatewaySource {
  /** `NAMESPACE/NAME` of the Gateway. */
  readonly gateway: string;
  /** The namespace of the gateway's pods; defaults to that of the Gateway. */
  readonly namespace?: string;
  /** The labels of the gateway's pods; default to the selector of the Gateway. */
  readonly labels?: Labels;
}

export function isGatewaySource(source: Source): source is GatewaySource {
  return 'gateway' in source;
}

/** The name that a proxy looks up for a Host header: without the port, in lower case. */
export function hostOf(host: string): string {
  return host.replace(/:\d*$/, '').toLowerCase();
}

/** A request with its path normalized as in Envoy: without `.` and `..`, and without unnecessary escapes. */
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

/** The values of a header or pseudo-header. */
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
