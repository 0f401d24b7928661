// Random requests that are aimed at the rules of a world: each matches one or two match entries, or nearly does. Of
// entirely random requests, hardly any would get past the first rules.
import type { IstioMatch } from '../../api/dynamicenv.ts';
import type { AnyObject } from '../../kube/index.ts';
import type { HeaderMatch, HttpMatch, VirtualService } from '../istio/objects.ts';
import { matchesRegex } from '../regex/regex.ts';
import type { Request } from '../request.ts';
import { CALLERS, PORTS } from './random-world.ts';
import type { Caller } from './random-world.ts';

/** A seeded generator of random numbers from 0 to 1. */
export function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const CALLER_NAMES = Object.keys(CALLERS) as Caller[];
const TEXTS = ['', 'a', 'ab', 'A', 'b', 'b,a', 'x', 'aa', 'abb'];
const PATHS = ['/', '/a', '/b', '/ab', '/A', '/a/b', '/A/b', '/a/', '/x'];
const METHODS = ['GET', 'POST', 'PUT', 'get'];

export interface Aim {
  /** All match entries: those of the VirtualServices, and the keys of environments. */
  readonly entries: readonly HttpMatch[];
  /** The keys of environments: half of the requests are aimed at one of them. */
  readonly own: readonly HttpMatch[];
  readonly hosts: readonly string[];
}

export function aimAt(
  worlds: readonly (readonly AnyObject[])[],
  keys: readonly IstioMatch[],
  hosts: Aim['hosts'],
): Aim {
  const services = worlds.flat().filter(({ kind }) => kind === 'VirtualService') as unknown as VirtualService[];
  const entries = services.flatMap(({ spec }) => (spec?.http ?? []).flatMap(({ match = [{}] }) => match));
  return { entries: [...entries, ...keys], own: keys, hosts };
}

/** A request near one or two entries. */
export function aimedRequest({ entries, own, hosts }: Aim, random: () => number): Request {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const isLikely = (share: number): boolean => random() < share;
  const first = isLikely(0.5) ? pick(own) : pick(entries);
  const targets = isLikely(0.7) ? [first, pick(entries)] : [first];

  const text = ({ exact, prefix, regex }: HeaderMatch, others: readonly string[]): string => {
    if (exact !== undefined) return exact;
    if (prefix !== undefined) return prefix + pick(['', '', 'b', 'x']);
    const fitting = regex === undefined ? others : others.filter((each) => matchesRegex(regex, each));
    return pick(fitting.length > 0 ? fitting : others);
  };
  /** A text similar to the given one, which may no longer match. */
  const near = (value: string, others: readonly string[]): string =>
    pick([`${value}x`, value.slice(0, -1), value.toUpperCase(), pick(others), pick(others)]);

  const headers = new Map<string, string[]>();
  const query = new Map<string, string>();
  let [path, method, host] = [pick(PATHS), 'GET', pick(hosts)];
  for (const target of targets) {
    for (const [name, match] of Object.entries(target.headers ?? {})) {
      const key = name.toLowerCase();
      if (key.startsWith(':') || key === 'host') continue;
      const values = headers.get(key) ?? [];
      // Envoy matches each value on its own.
      headers.set(key, values.length > 0 && isLikely(0.5) ? values : [...values, text(match, TEXTS)]);
    }
    if (target.uri !== undefined) path = text(target.uri, PATHS);
    if (target.method !== undefined) method = text(target.method, METHODS);
    if (target.authority !== undefined && isLikely(0.5)) host = text(target.authority, hosts);
    for (const [name, match] of Object.entries(target.queryParams ?? {})) query.set(name, text(match, TEXTS));
  }

  for (let left = pick([0, 0, 1, 1, 2]); left > 0; left--) {
    const name = pick([...headers.keys(), 'x-user', 'x-other', 'x-env']);
    const values = headers.get(name) ?? [];
    const mutations = [
      () =>
        headers.set(
          name,
          values.map((each) => near(each, TEXTS)),
        ),
      () => headers.set(name, [...values, pick(TEXTS)]),
      () => headers.set(name, [pick(TEXTS), ...values]),
      () => headers.delete(name),
      () => (path = near(path, PATHS)),
      () => (method = pick(METHODS)),
      () => query.set(pick(['q', 'Q', 'r']), pick(TEXTS)),
    ];
    pick(mutations)();
  }

  const caller = pick(CALLER_NAMES);
  const sent = [...headers].filter(([, values]) => values.length > 0);
  const search = [...query].map((pair) => pair.join('=')).join('&');
  return {
    host,
    // The edge listens on one port.
    port: caller === 'ingress' ? PORTS[0] : pick(PORTS),
    path: `${path.startsWith('/') ? path : `/${path}`}${search === '' ? '' : `?${search}`}`,
    method: method === '' ? 'GET' : method,
    headers: Object.fromEntries(sent),
    source: CALLERS[caller],
  };
}
