// Requests to loopback: they enter through a gateway to which a local port is forwarded, by `kubectl port-forward` or,
// for the sample shop, by `offshoot up`.
import type { Gateway } from './istio/objects.ts';

/** The ports that a Gateway listens on, by the scheme of requests. */
export type GatewayPorts = Readonly<Record<string, readonly number[]>>;

export function gatewayPorts({ spec }: Gateway): GatewayPorts {
  const ports = (protocols: RegExp): number[] => [
    ...new Set(
      (spec?.servers ?? []).flatMap(({ port }) => (protocols.test(port?.protocol ?? '') ? (port?.number ?? []) : [])),
    ),
  ];
  return { http: ports(/^(?:http2?|grpc|grpc-web)$/i), https: ports(/^(?:https|tls)$/i) };
}

export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3})(?::\d+)?$/i.test(host);
}

/** The port of a gateway to which a local port is forwarded: the only one for the scheme, else the same number. */
export function forwardedPort(ports: GatewayPorts, scheme: string, port: number): number {
  const known = ports[scheme] ?? [];
  return known.length === 1 ? known[0]! : port;
}
