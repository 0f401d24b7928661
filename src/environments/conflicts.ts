// Environments that ask for the same requests to a workload: what the webhook warns of, and what the condition
// `Conflicted` tells. Each is compared only with those that it may have requests in common with, and again only when one
// of these comes, goes or asks for something else.
import { DynamicEnv } from '../api/dynamicenv.ts';
import type { IstioMatch } from '../api/dynamicenv.ts';
import { defineModel } from '../controller/index.ts';
import type { Facts, Model } from '../controller/index.ts';
import { keyOf, refOf } from '../kube/index.ts';
import { BAGGAGE, baggageKey } from '../traffic/baggage.ts';
import { overlapOf } from '../traffic/prove/overlap.ts';
import type { Overlap } from '../traffic/prove/overlap.ts';
import { derive } from '../watchable/index.ts';
import type { DerivedMap, Lookup } from '../watchable/index.ts';
import { identify } from './identity.ts';
import { isAsleep } from './lifecycle/sleep.ts';
import { matchesOf, matchTitle } from './matches.ts';
import { messages } from './messages.ts';
import { itemsOf, statusKey } from './names.ts';
import { byPrecedence } from './precedence.ts';
import type { Dated } from './precedence.ts';
import type { Settings } from './settings.ts';

/** What an environment asks for. */
export interface Claim extends Dated {
  readonly workloads: readonly string[];
  readonly matches: readonly { readonly title: string; readonly match: IstioMatch }[];
  /** Whether its routes are taken out until it is woken. */
  readonly sleeps: boolean;
}

/** Another environment that asks for some of the same requests to a workload. */
export interface Conflict extends Overlap {
  readonly other: string;
  readonly workload: string;
  /** Which match of this environment it is about. */
  readonly match: string;
  /** Whether the other one comes first. */
  readonly isLater: boolean;
  /** Whether both were created in the same second: then their names decide who is first. */
  readonly isTie: boolean;
  /** Whether the one that comes first is asleep, and so gets nothing. */
  readonly firstSleeps: boolean;
}

type Conflicts = Model<{ readonly conflicts: Lookup<string, readonly Conflict[]> }>;

const models = new Map<string, Conflicts>();

/** The conflicts of an environment, by its key; they are looked up once for all who read them. */
export function conflictsIn(facts: Facts, environment: string, settings: KeySettings): readonly Conflict[] {
  const id = JSON.stringify([settings.keyHeader, settings.namespaces]);
  let model = models.get(id);
  if (model === undefined) models.set(id, (model = conflictsModel(settings)));
  return facts.read.get(facts.model(model).conflicts, environment) ?? [];
}

type KeySettings = Pick<Settings, 'keyHeader' | 'namespaces'>;

function conflictsModel(settings: KeySettings): Conflicts {
  return defineModel((facts) => {
    const claims: DerivedMap<string, Claim> = derive(
      'what environments ask for',
      (read, key: string) => {
        const env = facts(read).get(DynamicEnv, refOf(key));
        const isThere = env !== undefined && env.metadata.deletionTimestamp === undefined;
        return isThere && identify(facts(read), env, settings).refusal === undefined
          ? claimOf(env, settings)
          : undefined;
      },
      { keys: (read) => facts(read).keys(DynamicEnv), indexes: { bucket: bucketsOf } },
    );
    const conflicts = derive('conflicts of environments', (read, key: string) => {
      const claim = read.get(claims, key);
      if (claim === undefined) return undefined;
      const near = lookedAt(claim).flatMap((bucket) => read.index(claims, 'bucket', bucket));
      const others = new Map(near.map((each) => [each.environment, each]));
      return conflictsOf(claim, [...others.values()]);
    });
    return { conflicts };
  });
}

/** What an environment asks for. */
export function claimOf(env: DynamicEnv, settings: KeySettings): Claim {
  return {
    environment: keyOf(env.metadata),
    createdAt: env.metadata.creationTimestamp ?? '',
    workloads: [...new Set(itemsOf(env).subsets.map(statusKey))],
    matches: matchesOf(env.spec, settings).map((match, i) => ({ title: matchTitle(env.spec, i), match })),
    sleeps: isAsleep(env) && !hasRoutes(env),
  };
}

/** One that is paused keeps its routes, also if it should sleep; and one that falls asleep has them for a moment. */
function hasRoutes({ status }: DynamicEnv): boolean {
  const services = Object.values(status?.subsetsStatus ?? {}).flatMap(({ virtualServices = [] }) => virtualServices);
  return services.some((each) => each.status === 'running');
}

/** The conflicts of an environment with others, the oldest of them first: the worst for each workload of each. */
export function conflictsOf(claim: Claim, others: readonly Claim[]): readonly Conflict[] {
  const all = others.filter(({ environment }) => environment !== claim.environment).toSorted(byPrecedence);
  return all.flatMap((other) => {
    const common = claim.workloads.filter((workload) => other.workloads.includes(workload));
    const worst = common.length === 0 ? undefined : worstOverlap(claim, other);
    if (worst === undefined) return [];
    const isLater = byPrecedence(other, claim) < 0;
    const order = {
      isLater,
      isTie: other.createdAt === claim.createdAt,
      firstSleeps: isLater ? other.sleeps : claim.sleeps,
    };
    return common.map((workload) => ({ ...worst, other: other.environment, workload, ...order }));
  });
}

const RELATIONS = ['same', 'covered', 'overlapping', 'undecided'] as const;

function worstOverlap(claim: Claim, other: Claim): (Overlap & { readonly match: string }) | undefined {
  const overlaps = claim.matches.flatMap(({ title, match }) =>
    other.matches.flatMap((theirs) => {
      const overlap = overlapOf(match, theirs.match);
      return overlap === undefined ? [] : [{ ...overlap, match: title }];
    }),
  );
  return RELATIONS.map((each) => overlaps.find(({ relation }) => relation === each)).find((each) => each !== undefined);
}

const ANY = '*';

/**
 * Where a claim is found: by each workload under every header that it asks for by value or key, and under `*` if some match
 * asks for something else, which may go together with any value.
 */
function bucketsOf(claim: Claim): readonly string[] {
  const values = valuesOf(claim);
  return claim.workloads.flatMap((workload) => [workload, ...values.map((value) => `${workload} ${value}`)]);
}

/** Where to look for claims that may have requests in common with one. */
function lookedAt(claim: Claim): readonly string[] {
  const values = valuesOf(claim);
  if (values.includes(ANY)) return claim.workloads;
  return claim.workloads.flatMap((workload) => [ANY, ...values].map((value) => `${workload} ${value}`));
}

function valuesOf({ matches }: Claim): readonly string[] {
  const values = matches.flatMap(({ match: { headers = {} } }) => {
    const all = Object.entries(headers).map(([name, { exact, prefix, regex }]) => {
      const header = name.toLowerCase();
      // Of the baggage, a value and a key may be the same.
      if (exact) return header === BAGGAGE ? ANY : `${header}=${exact}`;
      const key = prefix ? undefined : baggageKey(regex);
      return key === undefined ? ANY : `${header}~${key}`;
    });
    return all.length === 0 ? [ANY] : all;
  });
  return [...new Set(values)];
}

/** So many conflicts are reported one by one. */
const MOST_TOLD = 5;

/** Conflicts in words: the first few, and how many more there are. */
export function conflictTexts(conflicts: readonly Conflict[]): {
  readonly told: readonly string[];
  readonly more: number;
} {
  return {
    told: conflicts.slice(0, MOST_TOLD).map(messages.conflict),
    more: Math.max(0, conflicts.length - MOST_TOLD),
  };
}
