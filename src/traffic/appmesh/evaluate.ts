// Where a request lands in AWS App Mesh: a model of the configuration that its Envoys get. App Mesh itself is
// discontinued, so the rules follow its documentation.
import { matchesRegex } from '../regex/regex.ts';
import type { Match, Mesh, Route, ValueMatch } from './mesh.ts';

export interface Request {
  readonly host: string;
  readonly path: string;
  readonly method?: string;
  /** By name in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

/** Where a request lands: the share of each virtual node in percent, or the reason why it lands nowhere. */
export type Landing =
  | { readonly nodes: Readonly<Record<string, number>> }
  /** No route matches. */
  | { readonly status: 404 }
  /** The host is not a backend of the calling virtual node. */
  | { readonly status: 'unreachable' };

/** Where a request from a virtual node lands. */
export function landingOf(mesh: Mesh, from: string, request: Request): Landing {
  const provider = mesh.services.get(request.host);
  if (provider === undefined || !mesh.backends.get(from)?.has(request.host)) return { status: 'unreachable' };
  if ('node' in provider) return { nodes: { [provider.node]: 100 } };
  const route = inOrder(mesh.routes.get(provider.router) ?? []).find(({ match }) => fits(match, request));
  if (route === undefined) return { status: 404 };
  const nodes: Record<string, number> = {};
  for (const { node, weight } of route.targets) if (weight > 0) nodes[node] = (nodes[node] ?? 0) + weight;
  return { nodes };
}

const LOWEST_PRIORITY = 1000;

/** Sorted by priority; routes of the same priority with the longest path first. */
function inOrder(routes: readonly Route[]): readonly Route[] {
  const rank = ({ priority = LOWEST_PRIORITY }: Route): number => priority;
  const length = ({ match }: Route): number => match.prefix?.length ?? match.path?.exact?.length ?? 0;
  return routes.toSorted((a, b) => rank(a) - rank(b) || length(b) - length(a));
}

function fits({ prefix, path, method, headers = [], queryParameters = [] }: Match, request: Request): boolean {
  const has = (values: Readonly<Record<string, string>> = {}, { name, match }: ValueMatch): boolean => {
    const value = Object.hasOwn(values, name) ? values[name]! : undefined;
    if (value === undefined || match === undefined) return value !== undefined;
    return match.exact === undefined ? matchesRegex(match.regex ?? '', value) : value === match.exact;
  };
  return (
    (prefix === undefined || request.path.startsWith(prefix)) &&
    (path?.exact === undefined || request.path === path.exact) &&
    (path?.regex === undefined || matchesRegex(path.regex, request.path)) &&
    (method === undefined || method === (request.method ?? 'GET')) &&
    headers.every((each) => has(request.headers, { ...each, name: each.name.toLowerCase() })) &&
    queryParameters.every((each) => has(request.query, each))
  );
}
