// Where a request lands: a small model of how a proxy reads the routes of a VirtualService. For property tests.
import type { IstioMatch } from '../../api/dynamicenv.ts';
import type { HeaderMatch, HttpMatch, HttpRoute } from '../objects.ts';
import { fitsRegex } from '../regex.ts';

export interface Request {
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Labels of the pod that calls. */
  readonly labels: Readonly<Record<string, string>>;
  readonly path: string;
  readonly method: string;
}

/** The first route that a request fits. */
export function routeOf(http: readonly HttpRoute[], request: Request): HttpRoute | undefined {
  return http.find(({ match = [] }) => match.length === 0 || match.some((entry) => fits(entry, request)));
}

/** Whether a request fits a match entry of a route. */
export function fits(entry: HttpMatch, request: Request): boolean {
  const { uri, method } = entry as { uri?: { exact?: string; prefix?: string }; method?: { exact: string } };
  return (
    fitsConditions(entry, request) &&
    Object.entries(entry.withoutHeaders ?? {}).every(([name, match]) => !hasHeader(request, name, match)) &&
    (uri?.exact === undefined || request.path === uri.exact) &&
    (uri?.prefix === undefined || request.path.startsWith(uri.prefix)) &&
    (method === undefined || request.method === method.exact)
  );
}

/** Whether a request has all headers and labels that a match asks for. */
export function fitsConditions({ headers = {}, sourceLabels = {} }: IstioMatch | HttpMatch, request: Request): boolean {
  return (
    Object.entries(headers).every(([name, match]) => hasHeader(request, name, match)) &&
    Object.entries(sourceLabels).every(([name, value]) => request.labels[name] === value)
  );
}

function hasHeader({ headers }: Request, name: string, { exact, prefix, regex }: HeaderMatch): boolean {
  const key = name.toLowerCase();
  if (!Object.hasOwn(headers, key)) return false;
  const value = headers[key]!;
  if (exact) return value === exact;
  if (prefix) return value.startsWith(prefix);
  return !regex || regex === '*' || fitsRegex(regex, value);
}
