// What a route does with the requests that it matches, as istiod configures Envoy.
import type { HeaderOperations, HttpRoute, RouteDestination, RouteHeaders } from '../istio/objects.ts';
import type { Action, Destination, Fault, HeaderStep, Mirror, Retries, RouteAction } from '../rules.ts';
import type { LookUp, DestinationAddress } from './targets.ts';

/** The action of a route, or why Envoy refuses it. */
export function actionOf(route: HttpRoute, port: number, lookUp: LookUp): Action | { readonly refused: string } {
  const { redirect, directResponse } = route;
  const fault = faultOf(route);
  if (redirect) return redirectOf(route, port);
  if (directResponse) {
    const { status = 0, body } = directResponse;
    return {
      kind: 'response',
      status,
      ...(body?.string !== undefined && { body: body.string }),
      responseHeaders: stepsOf(route.headers?.response),
      ...(fault && { fault }),
    };
  }
  const destinations = destinationsOf(route, lookUp);
  if (destinations.length === 0) return { refused: 'no destination with a weight above zero' };
  return {
    kind: 'route',
    destinations,
    mirrors: mirrorsOf(route, lookUp),
    retries: retriesOf(route),
    ...rewriteOf(route),
    ...(route.timeout && { timeout: route.timeout }),
    ...(fault && { fault }),
  };
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

function redirectOf(route: HttpRoute, listenPort: number): Action | { readonly refused: string } {
  const { redirectCode, scheme, authority, uri, prefixRewrite, port, derivePort } = route.redirect!;
  const status = redirectCode || 301;
  if (!REDIRECTS.has(status)) return { refused: `redirect code ${status}` };
  const named = port ?? (derivePort === 'FROM_REQUEST_PORT' ? listenPort : undefined);
  const isDefault = (named === 80 && (scheme || 'http') === 'http') || (named === 443 && scheme === 'https');
  const fault = faultOf(route);
  return {
    kind: 'redirect',
    status,
    ...(scheme && { scheme }),
    ...(authority && { authority }),
    ...(named && !isDefault && { port: named }),
    ...(prefixRewrite ? { prefixRewrite } : uri && { path: uri }),
    responseHeaders: stepsOf(route.headers?.response),
    ...(fault && { fault }),
  };
}

/** A single destination gets all requests, whatever its weight. With several, those without a weight get none. */
function destinationsOf(route: HttpRoute, lookUp: LookUp): readonly Destination[] {
  const all = route.route ?? [];
  const isSingle = all.length === 1;
  const taking = isSingle ? all : all.filter(({ weight = 0 }) => weight > 0);
  const total = taking.reduce((sum, { weight = 0 }) => sum + weight, 0);
  return taking.map((each) => {
    const authority = route.rewrite?.authority || authorityOf(route.headers) || authorityOf(each.headers);
    return {
      ...lookUp(destinationAddress(each.destination)),
      weight: isSingle ? 100 : (100 * each.weight!) / total,
      requestHeaders: mergedSteps(route, each, 'request', isSingle),
      responseHeaders: mergedSteps(route, each, 'response', isSingle),
      ...(authority && { authority }),
    };
  });
}

function destinationAddress({
  host = '',
  subset,
  port,
}: NonNullable<RouteDestination['destination']> = {}): DestinationAddress {
  return { host, ...(subset && { subset }), ...(port?.number && { port: port.number }) };
}

/**
 * With several destinations, Envoy applies the header operations of the destination first. With a single one, istiod
 * merges both lists. Within a list, headers are removed first, then set, then added.
 */
function mergedSteps(
  route: HttpRoute,
  destination: RouteDestination,
  way: 'request' | 'response',
  isSingle: boolean,
): readonly HeaderStep[] {
  const [ofRoute, own] = [stepsOf(route.headers?.[way]), stepsOf(destination.headers?.[way])];
  if (!isSingle) return [...own, ...ofRoute];
  const all = [...ofRoute, ...own];
  return (['remove', 'set', 'add'] as const).flatMap((op) => all.filter((step) => step.op === op));
}

function stepsOf({ set = {}, add = {}, remove = [] }: HeaderOperations = {}): readonly HeaderStep[] {
  const sorted = (values: Readonly<Record<string, string>>, op: 'set' | 'add'): HeaderStep[] =>
    Object.entries(values)
      .filter(([name]) => !isInternal(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => ({ op, name: name.toLowerCase(), value }));
  return [
    ...remove.filter((name) => !isInternal(name)).map((name) => ({ op: 'remove' as const, name: name.toLowerCase() })),
    ...sorted(set, 'set'),
    ...sorted(add, 'add'),
  ];
}

function isInternal(name: string): boolean {
  return name.startsWith(':') || name.toLowerCase() === 'host';
}

/** Setting the Host header rewrites the authority. */
function authorityOf(headers: RouteHeaders | undefined): string | undefined {
  const { set = {}, add = {} } = headers?.request ?? {};
  const isAuthority = ([name]: readonly [string, string]): boolean => /^(?::authority|host)$/i.test(name);
  return [set, add].map((each) => Object.entries(each).find(isAuthority)?.[1]).find(Boolean);
}

function rewriteOf({ rewrite }: HttpRoute): Pick<RouteAction, 'rewrite'> {
  const { uri, uriRegexRewrite } = rewrite ?? {};
  if (uriRegexRewrite) {
    const { match = '', rewrite: to = '' } = uriRegexRewrite;
    return { rewrite: { regex: { match, rewrite: to } } };
  }
  return uri ? { rewrite: { path: uri } } : {};
}

function mirrorsOf(route: HttpRoute, lookUp: LookUp): readonly Mirror[] {
  const { mirror, mirrorPercentage, mirrorPercent, mirrors = [] } = route;
  const single = mirrorPercentage ? (mirrorPercentage.value ?? 0) : (mirrorPercent ?? 100);
  const all = [
    ...(mirror ? [{ destination: mirror, percentage: single }] : []),
    ...mirrors.map(({ destination, percentage }) => ({
      destination,
      percentage: percentage ? (percentage.value ?? 0) : 100,
    })),
  ];
  return all
    .filter(({ destination, percentage }) => destination !== undefined && percentage > 0)
    .map(({ destination, percentage }) => ({ ...lookUp(destinationAddress(destination)), percentage }));
}

const RETRY_ON = 'connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes';

/** The retry policy of Istio for routes without one. */
export const DEFAULT_RETRIES: Retries = { attempts: 2, on: RETRY_ON };

function retriesOf({ retries }: HttpRoute): Retries {
  if (!retries) return DEFAULT_RETRIES;
  const { attempts = 0, retryOn, perTryTimeout } = retries;
  return { attempts, on: attempts > 0 ? retryOn || RETRY_ON : '', ...(perTryTimeout && { perTryTimeout }) };
}

function faultOf({ fault }: HttpRoute): Fault | undefined {
  const { abort, delay } = fault ?? {};
  const hasAbort = abort?.httpStatus !== undefined || abort?.grpcStatus !== undefined;
  const hasDelay = delay?.fixedDelay !== undefined;
  if (!hasAbort && !hasDelay) return undefined;
  return {
    ...(hasAbort && {
      abort: {
        ...(abort.httpStatus !== undefined && { status: abort.httpStatus }),
        ...(abort.grpcStatus !== undefined && { grpcStatus: abort.grpcStatus }),
        percentage: abort.percentage?.value ?? 0,
      },
    }),
    ...(hasDelay && {
      delay: {
        time: delay.fixedDelay,
        percentage: delay.percentage ? (delay.percentage.value ?? 0) : (delay.percent ?? 0),
      },
    }),
  };
}
