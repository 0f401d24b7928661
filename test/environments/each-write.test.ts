// After each single write of the controllers, no request is routed to a version that no rule declares or that has no
// ready pod. The routing model is the judge. Where the contract of the original requires otherwise (a host without a
// rule; a clone that does not run after a minute), the condition Routed says so.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { Deployment, Service } from '../../src/environments/objects.ts';
import { uniqueVersion } from '../../src/environments/names.ts';
import type { KubeObject } from '../../src/kube/index.ts';
import { createRouter, worldOf } from '../../src/traffic/index.ts';
import { entriesOf } from '../../src/traffic/prove/entries.ts';
import { avoiding, Budget, findRequest } from '../../src/traffic/prove/witness.ts';
import { insertedName } from '../../src/traffic/istio/inserted-routes.ts';
import { DestinationRule, VirtualService } from '../../src/traffic/istio/objects.ts';
import { MemoryCluster } from './memory-cluster.ts';
import { environment as environmentOf, workload } from './workload.ts';
import { deployment, environment, rule, service, virtualService, world } from './random-worlds.ts';

const PORT = 80;

/** A random object made valid: with ports and replicas, and without routes that have no destination. */
function meshed(object: KubeObject): KubeObject {
  if (object.kind === DynamicEnv.kind) {
    return JSON.parse(
      JSON.stringify(object, (name, value: unknown) => (name === 'replicas' ? 1 : value)),
    ) as DynamicEnv;
  }
  if (object.kind === Service.kind) {
    return { ...object, spec: { ...(object as Service).spec, ports: [{ name: 'http', port: PORT }] } } as Service;
  }
  if (object.kind !== VirtualService.kind) return object;
  const { spec } = object as VirtualService;
  const http = spec?.http?.filter(({ route, delegate }) => delegate !== undefined || (route ?? []).length > 0) ?? [];
  return { ...object, spec: { ...spec, http } } as VirtualService;
}

/** The destinations of environments without a response: `version host why`. */
function lostDestinations(cluster: MemoryCluster): ReadonlySet<string> {
  const deployments = cluster.list(Deployment).map((each) => ({ ...each, status: each.status ?? {} }));
  const kinds = [Service, DestinationRule, VirtualService] as const;
  const router = createRouter(worldOf([...deployments, ...kinds.flatMap((kind) => cluster.list<KubeObject>(kind))]));
  const services = cluster.list(Service).map(({ metadata }) => `${metadata.name}.${metadata.namespace}`);
  const hosts = new Set([...services, ...cluster.list(VirtualService).flatMap(({ spec }) => spec?.hosts ?? [])]);
  const lost = [...hosts].flatMap((host) =>
    ['a', 'b'].flatMap((namespace) => {
      const source = { namespace };
      const entries = entriesOf(router.rulesFor(source, host, PORT), source);
      const scope = { source, port: PORT, authority: { regex: '.*', samples: [host] } };
      return entries.flatMap(({ effect: { rule: decider }, literals }, at) => {
        const { name = '', action } = decider ?? {};
        if (insertedName(name) === undefined || action?.kind !== 'route') return [];
        const missing = action.destinations.filter(({ outcome }) => outcome !== 'Reached');
        // A rule that earlier rules hide has no effect.
        const avoided = avoiding(entries.slice(0, at).map((each) => each.literals));
        if (missing.length === 0 || findRequest({ scope, literals, avoided }, new Budget(1_000)) === 'none') return [];
        return missing.map((each) => `${each.subset} ${each.host} ${each.outcome}`);
      });
    }),
  );
  return new Set(lost);
}

/** Watches the effect of each write of the controllers on requests. */
class Watch {
  readonly found = new Map<string, string>();
  readonly #cluster: MemoryCluster;
  #known: ReadonlySet<string> = new Set();

  constructor(cluster: MemoryCluster) {
    this.#cluster = cluster;
    this.look();
    cluster.afterWrite = (write) => {
      const known = this.#known;
      this.look();
      for (const each of this.#known) if (!known.has(each)) this.found.set(each, write);
    };
  }

  /** Records the current state, so that changes by users are not blamed on the controllers. */
  look(): void {
    this.#known = lostDestinations(this.#cluster);
  }

  /** Lost destinations that a write caused and that no environment reports. */
  unreported(): readonly string[] {
    const reported = this.#cluster.list(DynamicEnv).flatMap(({ metadata, status }) => {
      const routed = status?.conditions?.find(({ type }) => type === 'Routed');
      const isReported = routed?.status === 'False' || routed?.reason === 'RoutedWithWarnings';
      return isReported ? [{ version: uniqueVersion(metadata), message: routed.message ?? '' }] : [];
    });
    return [...this.found]
      .filter(([lost]) => {
        const [version = ''] = lost.split(' ');
        return !reported.some((each) => each.version === version && /\bfail\b/.test(each.message));
      })
      .map(([lost, write]) => `${write}: ${lost}`);
  }
}

/** Settles, and returns the reasons of lost requests that are reported. */
async function settle(cluster: MemoryCluster, watch: Watch): Promise<readonly string[]> {
  watch.look();
  watch.found.clear();
  expect(await cluster.settle()).toEqual([]);
  expect(watch.unreported()).toEqual([]);
  return [...watch.found.keys()].map((lost) => lost.split(' ')[2]!);
}

const change = fc.oneof(environment, environment, environment, deployment, service, rule, virtualService);

test('an environment warns about callers whose namespace has its own rule for the host', async () => {
  const { deployment: base, service: called, rule: own, routes } = workload('a', 'x');
  const spec = { host: 'x.a.svc.cluster.local', subsets: own.spec!.subsets! };
  const theirs: DestinationRule = { ...own, metadata: { name: 'theirs', namespace: 'b' }, spec };
  const wide: DestinationRule = {
    ...theirs,
    metadata: { name: 'wide', namespace: 'c' },
    spec: { ...spec, host: '*.svc.cluster.local' },
  };
  const env = environmentOf('a', 'e', [{ name: 'x', namespace: 'a' }]);
  const cluster = await MemoryCluster.of([base, meshed(called), own, routes, theirs, wide, env]);
  expect(await cluster.settle()).toEqual([]);
  const [{ status }] = cluster.list(DynamicEnv) as [DynamicEnv];
  const warningFor = (namespace: string, name: string): string =>
    `requests from pods in namespace ${namespace} to x.a.svc.cluster.local fail: they use DestinationRule ${namespace}/${name} there, which has no subset "a-e"`;
  expect(status?.conditions?.find(({ type }) => type === 'Routed')).toMatchObject({
    status: 'True',
    reason: 'RoutedWithWarnings',
    message: `every subset has routes; ${warningFor('b', 'theirs')}; ${warningFor('c', 'wide')}`,
  });
  await cluster.remove(theirs);
  await cluster.remove(wide);
  expect(await cluster.settle()).toEqual([]);
  const [after] = cluster.list(DynamicEnv);
  expect(after!.status?.conditions?.find(({ type }) => type === 'Routed')).toMatchObject({ reason: 'Routed' });
});

describe('requests', () => {
  test(
    'are never lost after any single write, for creations, updates and deletions in any world',
    { timeout: 120_000 },
    async () => {
      const reasons = new Set<string>();
      const play = async (
        objects: readonly KubeObject[],
        changes: readonly KubeObject[],
        slow: readonly string[],
      ): Promise<void> => {
        const cluster = await MemoryCluster.of(objects.filter(({ kind }) => kind !== DynamicEnv.kind).map(meshed));
        await cluster.settle();
        const watch = new Watch(cluster);
        const environments = objects.filter(({ kind }) => kind === DynamicEnv.kind);
        for (const each of [...environments, ...changes].map(meshed)) {
          // Some clones start only after everything else has settled: after a minute.
          cluster.starts = ({ metadata }) => !slow.includes(metadata.name);
          await cluster.put(each);
          for (const why of await settle(cluster, watch)) reasons.add(why);
          cluster.starts = () => true;
          await settle(cluster, watch);
        }
        for (const env of cluster.list(DynamicEnv)) {
          await cluster.delete(env);
          await settle(cluster, watch);
        }
      };
      const slow = fc.subarray(['x-a-e', 'x-a-a-e', 'x-a-e-f', 'x-a-a-e-f']);
      const { deployment: base, service: called, rule: own, routes } = workload('a', 'x');
      const env = environmentOf('a', 'e', [{ name: 'x', namespace: 'a' }]);
      const needed: readonly KubeObject[] = [base, called, own, routes, env];
      const theirs: DestinationRule = {
        ...own,
        metadata: { name: 'theirs', namespace: 'b' },
        spec: { ...own.spec!, host: 'x.a.svc.cluster.local' },
      };
      const holds = fc.assert(fc.asyncProperty(world, fc.array(change, { maxLength: 4 }), slow, play), {
        numRuns: 100,
        examples: [
          [[...needed, theirs], [], []],
          [needed, [], ['x-a-e']],
        ],
      });
      await expect(holds).resolves.toBeUndefined();
      // Both exceptions must have occurred, else the test has tried nothing. The examples have one each.
      expect([...reasons].sort()).toEqual(['MissingSubset', 'NoEndpoints']);
    },
  );
});
