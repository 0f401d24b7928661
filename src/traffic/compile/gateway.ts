// Compiles a host for a gateway: the rules of all its VirtualServices, one after the other.
import { keyOf } from '../../kube/index.ts';
import type { Gateway, GatewayServer, VirtualService } from '../istio/objects.ts';
import { virtualServiceHosts } from '../istio/hosts.ts';
import { byAge } from '../istio/precedence.ts';
import type { GatewaySource } from '../request.ts';
import type { CompiledHost, Rule } from '../rules.ts';
import type { World } from '../world.ts';
import { isCatchAll } from './conditions.ts';
import { within, wildcardsOver } from './hostnames.ts';
import { compileContext, gatewayKey, rulesOf } from './routes.ts';
import type { CompileContext } from './routes.ts';
import type { Proxy } from './targets.ts';
import { hasLabels, byPrecedence } from './visibility.ts';

/** The rules of a gateway for a host, which is in lower case and without a port. */
export function compileAtGateway(world: World, source: GatewaySource, host: string, port: number): CompiledHost {
  const proxy = proxyOf(world, source, port);
  const context = compileContext(world, proxy);
  const servers = serversOn(world, proxy, host);
  if (servers.length === 0) return { host, port, tiers: [], otherwise: 'NoListener' };
  for (const name of [host, ...wildcardsOver(host)]) {
    const rules = servers.flatMap((server) => rulesAt(context, server, name));
    if (rules.some(isIncluded)) {
      return { host, port, tiers: [{ rules: catchAllsLast(rules) }], otherwise: 'UnknownHost' };
    }
  }
  return { host, port, tiers: [], otherwise: 'UnknownHost' };
}

/** The pods that the Gateway selects, as a proxy. */
function proxyOf(world: World, source: GatewaySource, port: number): Proxy {
  const found = world.gateways().find(({ metadata }) => keyOf(metadata) === source.gateway);
  return {
    source,
    namespace: source.namespace ?? source.gateway.split('/')[0]!,
    labels: source.labels ?? found?.spec?.selector ?? {},
    port,
  };
}

interface Server extends GatewayServer {
  /** `NAMESPACE/NAME` of its Gateway. */
  readonly gateway: string;
}

/** The servers on the port, of all Gateways for these pods: every plaintext server, or the TLS server for the host. */
function serversOn(world: World, { labels, port }: Proxy, host: string): readonly Server[] {
  const all = world
    .gateways()
    .filter(({ spec }) => hasLabels(labels, spec?.selector ?? {}))
    .toSorted(byAge)
    .flatMap((gateway) => serversOf(gateway).filter((server) => server.port?.number === port));
  const clear = all.filter(({ port: own }) => /^(?:http2?|grpc|grpc-web)$/i.test(own?.protocol ?? ''));
  if (clear.length > 0) return clear;
  const terminating = all.filter(({ tls }) => /^(?:SIMPLE|MUTUAL|OPTIONAL_MUTUAL)$/.test(tls?.mode ?? ''));
  for (const name of [host, ...wildcardsOver(host)]) {
    const server = terminating.find(({ hosts = [] }) => hosts.some((each) => each.split('/').at(-1) === name));
    if (server !== undefined) return [server];
  }
  return [];
}

function serversOf(gateway: Gateway): readonly Server[] {
  const key = keyOf(gateway.metadata);
  return (gateway.spec?.servers ?? []).map((server) => ({
    ...server,
    gateway: key,
    hosts: (server.hosts ?? []).map((each) => each.replace(/^\.\//, `${gateway.metadata.namespace}/`)),
  }));
}

/** The rules of a server for a name in its hosts or in those of a VirtualService. */
function rulesAt(context: CompileContext, server: Server, name: string): readonly Rule[] {
  const { world, proxy } = context;
  const candidates = [name, ...wildcardsOver(name)].flatMap((each) => world.virtualServices(each));
  const redirects = server.tls?.httpsRedirect ? [toHttps] : [];
  const rules = byPrecedence(candidates, proxy.namespace)
    .filter(({ metadata, spec }) => {
      const gateways = spec?.gateways ?? [];
      const hosts = hostsFor(server, metadata.namespace ?? '');
      const service = { metadata, spec } as VirtualService;
      return (
        gateways.some((each) => gatewayKey(each, service) === server.gateway) &&
        meetAt(name, hosts, virtualServiceHosts(service, world.settings.clusterDomain))
      );
    })
    .flatMap((service) => rulesForProxy(rulesOf(context, service, server.gateway), proxy));
  const isRedirecting = rules.some(isIncluded) || server.hosts?.includes(name);
  return isRedirecting ? [...redirects, ...rules] : rules;
}

/** The hosts of a server that VirtualServices of a namespace may use. */
function hostsFor({ hosts = [] }: Server, namespace: string): readonly string[] {
  return hosts.flatMap((each) => {
    const [scope, host] = each.includes('/') ? each.split('/') : ['*', each];
    return scope === '*' || scope === namespace ? [host!.toLowerCase()] : [];
  });
}

/** Whether a name is where a host of the server and one of the VirtualService overlap: the narrower of the two. */
function meetAt(name: string, serverHosts: readonly string[], hosts: readonly string[]): boolean {
  return serverHosts.some((own) =>
    hosts.some((other) => (within(own, other) ? own === name : within(other, own) && other === name)),
  );
}

/** The labels of a gateway are known: rules for other callers are excluded, and those after a catch-all dropped. */
function rulesForProxy(rules: readonly Rule[], { namespace, labels }: Proxy): readonly Rule[] {
  const all = rules.map((rule): Rule => {
    const { source, ...match } = rule.match;
    if (source === undefined) return rule;
    const isOther = source.namespace !== undefined && source.namespace !== namespace;
    if (!isOther && hasLabels(labels, source.labels ?? {})) return { ...rule, match };
    return { ...rule, excluded: rule.excluded ?? 'it is for other callers' };
  });
  const last = all.findIndex((rule) => isIncluded(rule) && isCatchAll(rule.match));
  return last < 0 ? all : all.slice(0, last + 1);
}

function isIncluded({ excluded }: Rule): boolean {
  return excluded === undefined;
}

function catchAllsLast(rules: readonly Rule[]): readonly Rule[] {
  const isLast = (rule: Rule): boolean => isIncluded(rule) && isCatchAll(rule.match) && rule !== toHttps;
  return [...rules.filter((rule) => !isLast(rule)), ...rules.filter(isLast)];
}

/** The rule of a server with `httpsRedirect`. */
const toHttps: Rule = {
  name: 'httpsRedirect',
  index: 0,
  match: { headers: [{ name: ':scheme', value: { exact: 'http' }, negated: false }], query: [] },
  action: { kind: 'redirect', status: 301, scheme: 'https', responseHeaders: [] },
};
