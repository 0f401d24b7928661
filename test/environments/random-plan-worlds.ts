// Random worlds for plans on real API servers: environments of the workloads `cart` and `pay` in a namespace, what
// people change by hand, and what they then intend. Unlike those of `random-worlds.ts`, every object is valid.
import * as fc from 'fast-check';
import type { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { ASLEEP } from '../../src/environments/lifecycle/sleep.ts';
import { Deployment } from '../../src/environments/objects.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import type { Client, Ref } from '../../src/kube/index.ts';
import { DestinationRule, VirtualService } from '../../src/traffic/istio/objects.ts';
import { workload } from './workload.ts';

/** A change that somebody makes while the controllers do not run. */
export interface HandEdit {
  readonly do: 'delete clone' | 'change clone' | 'delete rule' | 'reset routes' | 'change base' | 'delete base';
  readonly environment: string;
  readonly workload: string;
}

/** An environment without its namespace. */
export interface EnvironmentDraft {
  readonly name: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec: (namespace: string) => DynamicEnv['spec'];
  /** For the message of a failed test. */
  readonly text: string;
}

export interface RandomPlanWorld {
  /** Environments that exist, and for which the controllers have settled. */
  readonly given: readonly EnvironmentDraft[];
  readonly byHand: readonly HandEdit[];
  /** Environments to apply, or to delete if `isDeleted`. */
  readonly intended: readonly { readonly environment: EnvironmentDraft; readonly isDeleted: boolean }[];
}

const envName = fc.constantFrom('feature', 'other');
const workloadName = fc.constantFrom('cart', 'cart', 'pay', 'ghost');
const optional = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { requiredKeys: [] });

type Subset = DynamicEnv['spec']['subsets'][number];
type Container = NonNullable<Subset['containers']>[number];

const container = optional<Pick<Container, 'image' | 'command' | 'env'>>({
  image: fc.constantFrom('new:2', 'new:3'),
  command: fc.constant(['run']),
  env: fc.array(fc.constant({ name: 'A', value: '1' }), { maxLength: 1 }),
});

const subset = fc
  .tuple(
    workloadName,
    fc.option(fc.tuple(fc.constantFrom('', '', '', '', '', 'ghost'), container), { nil: undefined }),
    optional<Pick<Subset, 'podLabels' | 'replicas'>>({
      podLabels: fc.constantFrom<Record<string, string>>({ tier: 'test' }, {}),
      replicas: fc.constantFrom(1, 2, 3, 0),
    }),
  )
  .map(([name, override, fields]) => {
    const [containerName, changes] = override ?? [];
    const containers = override && [{ containerName: containerName || name, ...changes }];
    return { name, ...fields, ...(containers && { containers }) };
  });

const draft = fc
  .tuple(
    envName,
    fc.constantFrom('key', 'header', 'regex and source'),
    fc.uniqueArray(subset, { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
    fc.nat(1),
    fc.constantFrom('awake', 'awake', 'awake', 'awake', 'asleep', 'paused'),
  )
  .map(([name, requests, parts, consumers, mode]): EnvironmentDraft => {
    const spec = (namespace: string): DynamicEnv['spec'] => {
      const all = parts.map((each) => ({ ...each, namespace }));
      const [first, ...rest] = all;
      return {
        ...requestsOf(name, requests),
        subsets: [first!, ...rest.slice(consumers)],
        consumers: rest.slice(0, consumers),
        ...(mode === 'paused' && { paused: true }),
      };
    };
    const annotations = mode === 'asleep' ? { annotations: { [ASLEEP]: 'true' } } : {};
    return { name, ...annotations, spec, text: JSON.stringify({ name, mode, ...spec('NAMESPACE') }) };
  });

/** No two environments ask for the same requests: what is said of that depends on the second of their creation. */
function requestsOf(name: string, requests: string): Pick<DynamicEnv['spec'], 'key' | 'istioMatches'> {
  if (requests === 'key') return { key: name };
  if (requests === 'header') return { istioMatches: [{ headers: { user: { exact: name } } }] };
  return { istioMatches: [{ headers: { user: { regex: `${name}-.*` } } }, { sourceLabels: { app: name } }] };
}

const handEdit: fc.Arbitrary<HandEdit> = fc.record({
  do: fc.constantFrom('delete clone', 'change clone', 'delete rule', 'reset routes', 'change base', 'delete base'),
  environment: envName,
  workload: fc.constantFrom('cart', 'pay'),
});

const byName = { selector: ({ name }: EnvironmentDraft) => name };

export const randomPlanWorld: fc.Arbitrary<RandomPlanWorld> = fc
  .tuple(
    fc.uniqueArray(draft, { maxLength: 2, ...byName }),
    fc.array(handEdit, { maxLength: 2 }),
    fc.uniqueArray(draft, { minLength: 1, maxLength: 2, ...byName }),
    fc.array(fc.boolean(), { minLength: 2, maxLength: 2 }),
  )
  .map(([given, byHand, intended, deletions]) => {
    const isGiven = ({ name }: EnvironmentDraft): boolean => given.some((each) => each.name === name);
    const edits = intended.map((environment, i) => ({ environment, isDeleted: deletions[i]! && isGiven(environment) }));
    // Of two that are created together, which one comes first depends on the second.
    const created = edits.find(({ environment }) => !isGiven(environment));
    return {
      given,
      byHand,
      intended: edits.filter((each) => isGiven(each.environment) || each === created),
    };
  });

/** A world in words, for the message of a failed test. */
export function describeWorld({ given, byHand, intended }: RandomPlanWorld): string {
  return [
    ...given.map(({ text }) => `given ${text}`),
    ...byHand.map(({ do: what, environment, workload: name }) => `${what} ${environment} ${name}`),
    ...intended.map(({ environment: { text }, isDeleted }) => `${isDeleted ? 'delete' : 'apply'} ${text}`),
  ].join('\n');
}

/** Makes a change by hand, if its object exists. */
export async function editByHand(client: Client, namespace: string, edit: HandEdit): Promise<void> {
  await carryOut(client, namespace, edit).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

function carryOut(client: Client, namespace: string, { do: what, environment, workload: name }: HandEdit) {
  const base: Ref = { name, namespace };
  const clone: Ref = { name: `${name}-${namespace}-${environment}`, namespace };
  const withImage = (ref: Ref) => {
    const containers = [{ name, image: 'by-hand:9' }];
    const body = { spec: { template: { spec: { containers } } } };
    return client.patch(Deployment, ref, { type: 'strategic', body }, { fieldManager: 'kubectl-edit' });
  };
  if (what === 'delete clone') return client.delete(Deployment, clone);
  if (what === 'change clone') return withImage(clone);
  if (what === 'delete rule') return client.delete(DestinationRule, { name: `${clone.name}-${name}`, namespace });
  if (what === 'change base') return withImage(base);
  if (what === 'delete base') return client.delete(Deployment, base);
  const { spec } = workload(namespace, name).routes;
  return client.patch(VirtualService, base, { type: 'merge', body: { spec } });
}
