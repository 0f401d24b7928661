// Environments that ask for the same requests to a workload: for the warnings of the webhook and the condition
// `Conflicted`. Each is compared only with those that it may share requests with, and again only when one of these is
// created, deleted or changed.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { IstioMatch } from '../../api/dynamicenv.ts';
import { defineModel } from '../../controller/index.ts';
import type { Facts, Model } from '../../controller/index.ts';
import { keyOf, refOf } from '../../kube/index.ts';
import { BAGGAGE, baggageKey } from '../../traffic/baggage.ts';
import { overlapOf } from '../../traffic/prove/overlap.ts';
import type { Overlap } from '../../traffic/prove/overlap.ts';
import { derive } from '../../watchable/index.ts';
import type { DerivedMap, Lookup } from '../../watchable/index.ts';
import { byPrecedence, identify } from '../identity/identity.ts';
import type { Dated } from '../identity/identity.ts';
import { isAsleep } from '../lifecycle/sleep.ts';
import { matchesOf, matchTitle } from './matches.ts';
import { messages } from '../status/messages.ts';
import { itemsOf, statusKey } from '../names.ts';
import type { Settings } from '../settings.ts';

/** What an environment asks for. */
export interface Claim extends Dated {
  readonly workloads: readonly string[];
  readonly matches: readonly { readonly title: string; readonly match: IstioMatch }[];
  /** Whether its routes are removed until it is woken. */
  readonly sleeps: boolean;
}

/** Another environment that asks for some of the same requests to a workload. */
export interface Conflict extends Overlap {
  readonly other: string;
  readonly workload: string;
  /** The match of this environment that overlaps. */
  readonly match: string;
  /** Whether the other one comes first. */
  readonly isLater: boolean;
  /** Whether both were created in the same second: then their names decide which is first. */
  readonly isTie: boolean;
  /** Whether the one that comes first is asleep, and so gets nothing. */
  readonly firstSleeps: boolean;
}

type Conflicts = Model<{ readonly conflicts: Lookup<string, readonly Conflict[]> }>;

const models = new Map<string, Conflicts>();

/** The conflicts of an environment, by its key; computed once for all readers. */
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
      const candidates = bucketsToSearch(claim).flatMap((bucket) => read.index(claims, 'bucket', bucket));
      const others = new Map(candidates.map((each) => [each.environment, each]));
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

/** A paused environment keeps its routes even if it should sleep, and one that falls asleep has them for a moment. */
function hasRoutes({ status }: DynamicEnv): boolean {
  const services = Object.values(status?.subsetsStatus ?? {}).flatMap(({ virtualServices = [] }) => virtualServices);
  return services.some((each) => each.status === 'running');
}

/** The conflicts with other environments, oldest first: the worst for each workload of each environment. */
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
 * The index buckets of a claim: for each workload, one for every header that it asks for by value or key, and `*` if
 * some match asks for something else, which may overlap with any value.
 */
function bucketsOf(claim: Claim): readonly string[] {
  const values = valuesOf(claim);
  return claim.workloads.flatMap((workload) => [workload, ...values.map((value) => `${workload} ${value}`)]);
}

/** The buckets of claims that may share requests with this one. */
function bucketsToSearch(claim: Claim): readonly string[] {
  const values = valuesOf(claim);
  if (values.includes(ANY)) return claim.workloads;
  return claim.workloads.flatMap((workload) => [ANY, ...values].map((value) => `${workload} ${value}`));
}

function valuesOf({ matches }: Claim): readonly string[] {
  const values = matches.flatMap(({ match: { headers = {} } }) => {
    const all = Object.entries(headers).map(([name, { exact, prefix, regex }]) => {
      const header = name.toLowerCase();
      // In the baggage header, a value may contain a key.
      if (exact) return header === BAGGAGE ? ANY : `${header}=${exact}`;
      const key = prefix ? undefined : baggageKey(regex);
      return key === undefined ? ANY : `${header}~${key}`;
    });
    return all.length === 0 ? [ANY] : all;
  });
  return [...new Set(values)];
}

/** How many conflicts are reported one by one. */
const MAX_REPORTED = 5;

/** Messages for the first few conflicts, and the number of others. */
export function conflictTexts(conflicts: readonly Conflict[]): {
  readonly texts: readonly string[];
  readonly more: number;
} {
  return {
    texts: conflicts.slice(0, MAX_REPORTED).map(messages.conflict),
    more: Math.max(0, conflicts.length - MAX_REPORTED),
  };
}
