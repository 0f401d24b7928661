// Whatever match an environment has, its routes hold nothing that Envoy rejects: a list of regular expressions and
// header names, each validated by a real Envoy.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import type { IstioMatch } from '../../src/api/dynamicenv.ts';
import { validateCreate } from '../../src/environments/index.ts';
import { withRoutes } from '../../src/traffic/istio/insert-routes.ts';
import type { HttpMatch } from '../../src/traffic/istio/objects.ts';
import { impossibleHeader } from '../../src/traffic/istio/unusable.ts';
import { envoy } from '../programs/envoy.ts';
import { findPrograms, programsOf } from '../programs/programs.ts';
import { environment, workload } from '../environments/workload.ts';
import { describeRequiring } from '../support/requirements.ts';
import { EXPRESSIONS } from './expressions.ts';

/** Accepted by this Envoy, but rejected by us: Istio or older Envoys reject it, or nobody should need it. */
const REFUSED_BY_US = [
  String.raw`\C`,
  '(?<name>a)',
  'a{99999999999}',
  '(?P<n>a)(?P<n>b)',
  ...['Cypro_Minoan', 'Kawi', 'Nag_Mundari', 'Old_Uyghur', 'Tangsa', 'Toto', 'Vithkuqi'].map((name) => `\\p{${name}}`),
  '((?<name>a))',
  '(?:a|(?<name>b))',
  // Older Envoys read UTF-8, and programs are larger there. Alternatives are counted without what RE2 simplifies.
  '(a|b|c){1000}'.repeat(8),
  String.raw`\pL{500}`,
  String.raw`\pL{1000}`,
  String.raw`(?i)\pL{900}`,
  '.{1000}'.repeat(5),
  '中{1000}'.repeat(20),
  'a'.repeat(1_025),
  'ä'.repeat(513),
  String.raw`\pL{30}`,
  String.raw`\p{^Greek}{1000}`,
  String.raw`(?:\P{Cf}|\S|(?s:.)){0,347}`,
  String.raw`\p{Latin}(?i-s){999}`,
  String.raw`\pL\Q\E{999}`,
];

const byRegex = (regex: string): IstioMatch => ({ headers: { who: { regex } } });
const found = findPrograms(envoy);
const requirement = {
  what: 'real Envoy',
  missing: 'missing' in found ? found.missing : undefined,
  variable: 'OFFSHOOT_REAL_MESH',
};

describeRequiring('matches that Envoy rejects', [requirement], () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-expressions-'));
  afterAll(() => rmSync(dir, { recursive: true }));

  /** Envoy's error for header matchers; undefined if it accepts them all. */
  async function refusal(headers: readonly HeaderMatcher[]): Promise<string | undefined> {
    const file = path.join(dir, 'envoy.json');
    writeFileSync(file, JSON.stringify(configuration(headers)));
    const args = ['--mode', 'validate', '-c', file, '--concurrency', '1', '-l', 'error'];
    return promisify(execFile)(path.join(programsOf(envoy), 'envoy'), args).then(
      () => undefined,
      (error: { stderr?: string }) => error.stderr ?? '',
    );
  }

  test('never get into a VirtualService: regular expressions', { timeout: 180_000 }, async () => {
    expect(EXPRESSIONS.length).toBeGreaterThanOrEqual(400);
    const written = EXPRESSIONS.filter((regex) => routesFor(byRegex(regex)).length > 0);
    expect(written.length).toBeGreaterThan(100);
    expect(await refusal(written.flatMap((regex) => routesFor(byRegex(regex)).flatMap(matchersOf)))).toBeUndefined();
    const others = EXPRESSIONS.filter((regex) => !written.includes(regex));
    expect(others.length).toBeGreaterThan(90);
    const taken: string[] = [];
    for (const regex of others) {
      expect([regex, isAdmitted(byRegex(regex))]).toEqual([regex, false]);
      if ((await refusal(matchersOf(byRegex(regex)))) === undefined) taken.push(regex);
    }
    // Envoy accepts those that no value matches.
    const possible = taken.filter((regex) => impossibleHeader(byRegex(regex)) === undefined);
    expect(possible).toEqual(REFUSED_BY_US);
  });

  test.each(['', 'a\nb', 'a\rb', 'a\0'])('are not admitted and get no route: header name %j', async (name) => {
    const match: IstioMatch = { headers: { [name]: { exact: 'x' } } };
    expect(await refusal(matchersOf(match))).toBeDefined();
    expect(routesFor(match)).toEqual([]);
    expect(isAdmitted(match)).toBe(false);
  });

  test.each(['X-Env', 'a b', ':authority', 'ä'])('do not include header name %j', async (name) => {
    const match: IstioMatch = { headers: { [name]: { prefix: 'x' } } };
    expect(routesFor(match)).toHaveLength(1);
    expect(await refusal(matchersOf(match))).toBeUndefined();
  });
});

/** The matches of the routes that an environment gets. */
function routesFor(match: IstioMatch): readonly HttpMatch[] {
  const { routes } = workload('shop', 'cart');
  const insertion = {
    workload: { name: 'cart', namespace: 'shop' },
    clone: 'cart-shop-e',
    hosts: ['cart.shop.svc.cluster.local'],
    defaultVersion: 'shared',
    clusterDomain: 'cluster.local',
  };
  const owner = { version: 'shop-e', taken: [] };
  const { copies } = withRoutes(routes, [{ owner, matches: [match], insertions: [insertion], untouched: [] }]);
  return copies.flatMap(({ route }) => route?.match ?? []);
}

function isAdmitted(match: IstioMatch): boolean {
  const env = environment('shop', 'e', [{ name: 'cart', namespace: 'shop' }]);
  return validateCreate({ ...env, spec: { ...env.spec, istioMatches: [match] } }).allowed;
}

interface HeaderMatcher {
  readonly name: string;
  readonly string_match?: object;
  readonly present_match?: boolean;
}

/** As istiod translates them: the regular expression `*` means that the header is present. */
function matchersOf({ headers = {} }: HttpMatch | IstioMatch): readonly HeaderMatcher[] {
  return Object.entries(headers).map(([name, { exact, prefix, regex }]) => {
    if (regex === '*') return { name, present_match: true };
    return { name, string_match: exact ? { exact } : prefix ? { prefix } : { safe_regex: { regex } } };
  });
}

/** The configuration of an Envoy with a route for each matcher. */
function configuration(headers: readonly HeaderMatcher[]): object {
  const http = 'type.googleapis.com/envoy.extensions.filters';
  const routes = headers.map((each) => ({
    match: { prefix: '/', headers: [each] },
    direct_response: { status: 200 },
  }));
  const manager = {
    '@type': `${http}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'test',
    route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes }] },
    http_filters: [{ name: 'router', typed_config: { '@type': `${http}.http.router.v3.Router` } }],
  };
  return {
    // The limit that Istio sets.
    layered_runtime: { layers: [{ name: 'istio', static_layer: { 're2.max_program_size.error_level': 32_768 } }] },
    static_resources: {
      listeners: [
        {
          name: 'test',
          address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
          filter_chains: [{ filters: [{ name: 'manager', typed_config: manager }] }],
        },
      ],
    },
  };
}
