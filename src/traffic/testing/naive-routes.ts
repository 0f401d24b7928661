// Which route of a VirtualService a request fits, written down a second time and as plainly as can be: what tests hold
// the routing model and the routes of environments to.
import type { IstioMatch } from '../../api/dynamicenv.ts';
import type { HeaderMatch, HttpMatch, HttpRoute } from '../istio/objects.ts';
import { fitsRegex } from '../regex.ts';

export interface Request {
  /** By name in lower case; a list for a header that comes more than once. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Labels of the pod that calls, or of the gateway. */
  readonly labels: Readonly<Record<string, string>>;
  /** With the query, if there is one. */
  readonly path: string;
  readonly method: string;
  readonly scheme?: string;
  readonly authority?: string;
  /** The port of the Service that is called. */
  readonly port?: number;
  /** Namespace of the pod that calls, or of the gateway. */
  readonly namespace?: string;
  /** `mesh` for a pod that calls, `NAMESPACE/NAME` for a gateway. */
  readonly gateway?: string;
}

/** The first route that a request fits. */
export function routeOf(http: readonly HttpRoute[], request: Request): HttpRoute | undefined {
  return http.find(({ match = [] }) => match.length === 0 || match.some((entry) => fits(entry, request)));
}

/**
 * Whether a proxy has any of these routes: it is not even told of those for other ports, gateways and callers. A caller
 * without any calls the Service as if there were no VirtualService.
 */
export function hasRoutes(http: readonly HttpRoute[], request: Request): boolean {
  return http.some(({ match = [] }) => match.length === 0 || match.some((entry) => isFrom(entry, request)));
}

/** Whether a request fits a match entry of a route. */
export function fits(entry: HttpMatch, request: Request): boolean {
  const { uri, ignoreUriCase = false, scheme, method, authority, queryParams = {}, withoutHeaders = {} } = entry;
  const { pathname, query } = parts(request.path);
  return (
    isFrom(entry, request) &&
    hasHeaders(entry, request) &&
    Object.entries(withoutHeaders).every(([name, match]) => lacksHeader(request, name, match)) &&
    (uri === undefined || fitsPath(uri, pathname, ignoreUriCase)) &&
    (scheme === undefined || fitsString(scheme, request.scheme ?? 'http')) &&
    (method === undefined || fitsString(method, request.method)) &&
    (authority === undefined || fitsString(authority, request.authority ?? '')) &&
    Object.entries(queryParams).every(([name, match]) => query.has(name) && fitsString(match, query.get(name)!))
  );
}

/** Whether a request has all headers and labels that a match asks for. */
export function fitsConditions(match: IstioMatch | HttpMatch, request: Request): boolean {
  return hasHeaders(match, request) && hasLabels(match, request);
}

/** What istiod decides: whether a proxy hears of an entry. Named gateways make it forget who calls. */
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

/** A header that is not there counts as empty here, unless only its presence is asked for. */
function lacksHeader(request: Request, name: string, match: HeaderMatch): boolean {
  const values = valuesOf(request, name);
  const counted = values.length === 0 && !isPresence(match) ? [''] : values;
  return !counted.some((value) => fitsString(match, value));
}

function valuesOf({ headers }: Request, name: string): readonly string[] {
  const key = name.toLowerCase();
  return Object.hasOwn(headers, key) ? [headers[key]!].flat() : [];
}

function fitsPath({ exact, prefix, regex }: HeaderMatch, pathname: string, ignoreCase: boolean): boolean {
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  if (exact !== undefined) return fold(pathname) === fold(exact);
  if (prefix !== undefined) return fold(pathname).startsWith(fold(prefix));
  return regex === undefined || fitsRegex(regex, pathname);
}

function fitsString(match: HeaderMatch, value: string): boolean {
  const { exact, prefix, regex } = match;
  if (isPresence(match)) return true;
  if (exact !== undefined) return value === exact;
  return prefix !== undefined ? value.startsWith(prefix) : fitsRegex(regex!, value);
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
