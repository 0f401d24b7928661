// Routes for TLS and TCP connections, whose requests proxies do not read: no header can decide where they go.
import type { StreamRoute, VirtualService } from './objects.ts';

export interface NamedStreamRoute {
  /** By its position: such routes have no names. */
  readonly name: string;
  readonly protocol: 'TLS' | 'TCP';
  readonly route: StreamRoute;
}

/** The TLS and TCP routes of a VirtualService. Those of a delegate have no effect: Istio delegates HTTP alone. */
export function streamRoutes({ spec }: VirtualService): readonly NamedStreamRoute[] {
  if ((spec?.hosts ?? []).length === 0) return [];
  const named = (protocol: NamedStreamRoute['protocol'], routes: readonly StreamRoute[] = []) =>
    routes.map((route, i) => ({ name: `${protocol.toLowerCase()}[${i}]`, protocol, route }));
  return [...named('TLS', spec?.tls), ...named('TCP', spec?.tcp)];
}
