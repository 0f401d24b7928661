// Decides about many requests in one world, with a cache of compiled hosts.
import { BoundedMap } from '../kube/bounded-map.ts';
import { compileHost } from './compile/index.ts';
import { decide } from './decide.ts';
import type { Decision } from './decide.ts';
import { hostOf, isGatewaySource } from './request.ts';
import type { Request, Source } from './request.ts';
import type { CompiledHost } from './rules.ts';
import type { World } from './world.ts';

/** The size of the cache. */
const MAX_HOSTS = 10_000;

export interface Router {
  decide(request: Request): Decision;
  /** The rules for a host and port, as a source sees them. */
  rulesFor(source: Source, host: string, port: number): CompiledHost;
}

/** A router for a world that does not change. */
export function createRouter(world: World): Router {
  const compiled = new BoundedMap<string, CompiledHost>(MAX_HOSTS);
  const rulesFor = (source: Source, host: string, port: number): CompiledHost => {
    const key = hostKey(source, host, port);
    let found = compiled.get(key);
    if (found === undefined) compiled.set(key, (found = compileHost(world, source, host, port)));
    return found;
  };
  return {
    rulesFor,
    decide: (request) => decide(rulesFor(request.source, request.host, request.port), request),
  };
}

/** The cache key of a host, port and source. */
function hostKey(source: Source, host: string, port: number): string {
  const { namespace = '', labels = {} } = source;
  const gateway = isGatewaySource(source) ? source.gateway : '';
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([hostOf(host), port, gateway, namespace, sorted]);
}
