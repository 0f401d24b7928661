// Which route of a VirtualService matches a request: a second, naive implementation with which tests compare the
// routing model and the routes of environments.
import type { IstioMatch } from '../../api/dynamicenv.ts';
import type { HeaderMatch, HttpMatch, HttpRoute } from '../istio/objects.ts';
import { matchesRegex } from '../regex/regex.ts';

export interface Request {
  /** By name in lower case; a list for a repeated header. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The labels of the calling pod or of the gateway. */
  readonly labels: Readonly<Record<string, string>>;
  /** With the query, if there is one. */
  readonly path: string;
  readonly method: string;
  readonly scheme?: string;
  readonly authority?: string;
  /** The port of the Service that is called. */
  readonly port?: number;
  /** The namespace of the calling pod or of the gateway. */
  readonly namespace?: string;
  /** `mesh` for a calling pod, `NAMESPACE/NAME` for a gateway. */
  readonly gateway?: string;
}

/** The first route that matches a request. */
export function routeOf(http: readonly HttpRoute[], request: Request): HttpRoute | undefined {
  return http.find(({ match = [] }) => match.length === 0 || match.some((entry) => fits(entry, request)));
}

/**
 * Whether a proxy has any of these routes: istiod does not send it those for other ports, gateways and callers. A
 * caller without any route calls the Service as if there were no VirtualService.
 */
export function hasRoutes(http: readonly HttpRoute[], request: Request): boolean {
  return http.some(({ match = [] }) => match.length === 0 || match.some((entry) => isFrom(entry, request)));
}

/** Whether a request matches a match entry of a route. */
export function fits(entry: HttpMatch, request: Request): boolean {
  const { uri, ignoreUriCase = false, scheme, method, authority, queryParams = {}, withoutHeaders = {} } = entry;
  const { pathname, query } = parts(request.path);
  return (
    isFrom(entry, request) &&
    hasHeaders(entry, request) &&
    Object.entries(withoutHeaders).every(([name, match]) => lacksHeader(request, name, match)) &&
    (uri === undefined || matchesPath(uri, pathname, ignoreUriCase)) &&
    (scheme === undefined || fitsString(scheme, request.scheme ?? 'http')) &&
    (method === undefined || fitsString(method, request.method)) &&
    (authority === undefined || fitsString(authority, request.authority ?? '')) &&
    Object.entries(queryParams).every(([name, match]) => query.has(name) && fitsString(match, query.get(name)!))
  );
}

/** Whether a request has all headers and labels of a match. */
export function matchesConditions(match: IstioMatch | HttpMatch, request: Request): boolean {
  return hasHeaders(match, request) && hasLabels(match, request);
}

/** Whether istiod sends an entry to a proxy. If the entry names gateways, istiod ignores the caller. */
function isFrom(entry: HttpMatch, request: Request): boolean {
  const { port, gateways = [], sourceNamespace } = entry;
  if (port !== undefined && port !== request.port) return false;
  if (gateways.length > 0) return gateways.includes(request.gateway ?? 'mesh');
  return hasLabels(entry, request) && (!sourceNamespace || sourceNamespace === request.namespace);
}

function hasLabels({ sourceLabels = {} }: IstioMatch | HttpMatch, { labels }: Request): boolean {
  return Object.entries(sourceLabels).every(([name, value]) => labels[name] === value);
}

function hasHeaders({ headers = {} }: IstioMatch | HttpMatch, request: Request): boolean {
  return Object.entries(headers).every(([name, match]) =>
    valuesOf(request, name).some((value) => fitsString(match, value)),
  );
}

/** An absent header counts as empty here, unless the condition is only about presence. */
function lacksHeader(request: Request, name: string, match: HeaderMatch): boolean {
  const values = valuesOf(request, name);
  const counted = values.length === 0 && !isPresence(match) ? [''] : values;
  return !counted.some((value) => fitsString(match, value));
}

function valuesOf({ headers }: Request, name: string): readonly string[] {
  const key = name.toLowerCase();
  return Object.hasOwn(headers, key) ? [headers[key]!].flat() : [];
}

function matchesPath({ exact, prefix, regex }: HeaderMatch, pathname: string, ignoreCase: boolean): boolean {
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  if (exact !== undefined) return fold(pathname) === fold(exact);
  if (prefix !== undefined) return fold(pathname).startsWith(fold(prefix));
  return regex === undefined || matchesRegex(regex, pathname);
}

function fitsString(match: HeaderMatch, value: string): boolean {
  const { exact, prefix, regex } = match;
  if (isPresence(match)) return true;
  if (exact !== undefined) return value === exact;
  return prefix !== undefined ? value.startsWith(prefix) : matchesRegex(regex!, value);
}

function isPresence({ exact, prefix, regex }: HeaderMatch): boolean {
  return exact === undefined && prefix === undefined && (regex === undefined || regex === '*');
}

/** A path without its query, and the query: the first value of each name, as it was sent. */
function parts(path: string): { readonly pathname: string; readonly query: ReadonlyMap<string, string> } {
  const [pathname, ...rest] = path.split('?') as [string, ...string[]];
  const pairs = rest.join('?').split('&').filter(Boolean);
  const query = pairs.map((pair): [string, string] => {
    const at = pair.indexOf('=');
    return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
  });
  return { pathname, query: new Map(query.toReversed()) };
}
