// A cluster in memory, for property tests: carries out plans at once, with nothing of an API server but what plans rely on.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { Reads } from '../../controller/index.ts';
import type { Plan, Refusal } from '../../controller/index.ts';
import { keyOf, Tables, timestamp } from '../../kube/index.ts';
import type { AnyKind, Kind, KubeObject, Step } from '../../kube/index.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { defaultSettings, environmentTables, planEnvironment } from '../index.ts';
import { resolveHost } from '../../traffic/istio/hosts.ts';
import { isInserted } from '../ownership.ts';
import { insertedName } from '../names.ts';
import { Deployment, Service } from '../objects.ts';
import { DestinationRule, VirtualService } from '../../traffic/istio/objects.ts';

type Fields = KubeObject & { readonly spec?: unknown; readonly status?: unknown };
type Stored = Fields & { readonly metadata: { readonly resourceVersion: string; readonly generation: number } };

const KINDS: readonly AnyKind[] = [DynamicEnv, Deployment, Service, DestinationRule, VirtualService];

/** Every plan must come to rest: more rounds than this are a quarrel. */
const MOST_ROUNDS = 40;

export class TinyCluster {
  /** Objects that nobody may write at the moment: `Kind namespace/name`. */
  readonly refused = new Set<string>();
  /** Routes that one of our own writes left without a rule or without pods. */
  readonly stranded: string[] = [];
  /** Routes that came before proxies can have known their rule. */
  readonly hasty: string[] = [];
  readonly #tables = new Tables(environmentTables(defaultSettings));
  readonly #reads: Reads;
  /** When each object was created, more exactly than its own time says. */
  readonly #born = new Map<string, number>();
  #now = Date.parse('2026-01-01T00:00:00.900Z');
  #version = 0;

  constructor(objects: readonly KubeObject[]) {
    this.#reads = new Reads({ tables: this.#tables, now: () => this.#now, wake: () => {} });
    for (const object of objects) this.put(object);
  }

  list<T extends KubeObject>(kind: Kind<T>): readonly T[] {
    return this.#tables.of(kind).list();
  }

  /** Writes an object, as a person would; its status stays. */
  put(object: KubeObject): void {
    const kind = KINDS.find(({ kind: name }) => name === object.kind)!;
    const before = this.#tables.of(kind).get(keyOf(object.metadata)) as Stored | undefined;
    const next = object as Fields;
    const isSame = before !== undefined && jsonEqual(before.spec, next.spec);
    const version = ++this.#version;
    const born = timestamp(this.#now);
    if (before === undefined) this.#born.set(`${object.kind} ${keyOf(object.metadata)}`, this.#now);
    const metadata = {
      ...object.metadata,
      creationTimestamp: before?.metadata.creationTimestamp ?? born,
      uid: before?.metadata.uid ?? `uid-${version}`,
      generation: (before?.metadata.generation ?? 0) + (isSame ? 0 : 1),
      resourceVersion: String(version),
    };
    const status = next.status ?? before?.status;
    this.#tables.of(kind).observe({ ...next, metadata, ...(status !== undefined && { status }) });
  }

  remove(object: KubeObject): void {
    const kind = KINDS.find(({ kind: name }) => name === object.kind)!;
    this.#tables.of(kind).observeDeleted(object);
  }

  /** Plans and carries out until nothing changes any more; returns what is still written if that never comes. */
  settle(): readonly string[] {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const outcomes = this.list(DynamicEnv).map((env) => this.#pass(env));
      this.#runClones();
      if (outcomes.some(({ writes }) => writes.length > 0)) continue;
      const waits = outcomes.map(({ waitMs }) => waitMs).filter((ms) => ms !== undefined);
      if (waits.length === 0) return [];
      this.#now += Math.min(...waits);
    }
    return this.list(DynamicEnv).flatMap((env) => this.#pass(env).writes);
  }

  #pass(env: DynamicEnv): { readonly writes: readonly string[]; readonly waitMs: number | undefined } {
    const { plan, writes } = this.#planAndCarryOut(env);
    if (this.#writeStatus(env, plan)) writes.push(`status of ${keyOf(env.metadata)}`);
    if (plan.finished) {
      this.remove(env);
      writes.push(`end of ${keyOf(env.metadata)}`);
    }
    return { writes, waitMs: plan.requeueAfterMs };
  }

  /** As the controller does it: what is refused makes a new plan, which must not ask for it again. */
  #planAndCarryOut(env: DynamicEnv): { readonly plan: Plan; readonly writes: string[] } {
    const refusals = new Map<string, string>();
    const writes: string[] = [];
    for (;;) {
      const refusal: Refusal = ({ kind }, ref) => refusals.get(`${kind} ${keyOf(ref)}`);
      const plan = this.#reads.track(
        keyOf(env.metadata),
        (view) => planEnvironment(view, env, defaultSettings),
        refusal,
      );
      const failed = (plan.steps ?? []).find((step) => {
        const [before, leading] = [danglingRoutes(this), new Set(this.#rulesOfRoutes().keys())];
        if (this.refused.has(objectName(step)) && this.#changes(step)) return true;
        if (!this.#carryOut(step)) return false;
        writes.push(describe(step));
        // Where no host has both a rule and a route, people expect to see the route all the same.
        if (JSON.stringify(plan.status?.['subsetsStatus'], withoutBigints)?.includes('common active')) return false;
        const stranded = [...danglingRoutes(this)].filter((route) => !before.has(route));
        this.stranded.push(...stranded.map((route) => `${describe(step)} leaves ${route}`));
        for (const [route, rule] of this.#rulesOfRoutes()) {
          const age = this.#now - this.#born.get(`DestinationRule ${rule}`)!;
          if (!leading.has(route) && age < defaultSettings.settleMs) this.hasty.push(`${route} after ${age} ms`);
        }
        return false;
      });
      if (failed === undefined) return { plan, writes };
      const name = objectName(failed);
      if (refusals.has(name)) throw new Error(`the plan asks again for ${describe(failed)}`);
      refusals.set(name, 'no');
    }
  }

  /** Routes of environments, with the rule that each leads by. */
  #rulesOfRoutes(): ReadonlyMap<string, string> {
    const rules = this.list(DestinationRule);
    return new Map(
      insertedRoutes(this).flatMap(({ id, host, subset }) =>
        rules.filter((rule) => declares(rule, host, subset)).map((rule) => [id, keyOf(rule.metadata)] as const),
      ),
    );
  }

  /** Whether a step would send anything. */
  #changes(step: Step): boolean {
    if (step.do === 'remove') return true;
    if (step.do === 'edit') return !jsonEqual(step.from, step.to);
    const live = this.#tables.of(step.kind).get(keyOf(step.object.metadata)) as Stored | undefined;
    return live === undefined || !jsonEqual(live, applied(live, step.object));
  }

  /** Whether a step changed anything. */
  #carryOut(step: Step): boolean {
    if (step.do === 'remove') {
      this.remove(step.object);
      return true;
    }
    if (step.do === 'edit') {
      if (jsonEqual(step.from, step.to)) return false;
      this.put(step.to);
      return true;
    }
    if (!this.#changes(step)) return false;
    const live = this.#tables.of(step.kind).get(keyOf(step.object.metadata)) as Stored | undefined;
    this.put(applied(live, step.object));
    return true;
  }

  #writeStatus({ metadata }: DynamicEnv, { status }: Plan): boolean {
    const env = this.#tables.of(DynamicEnv).get(keyOf(metadata));
    if (env === undefined || status === undefined || jsonEqual(env.status, status)) return false;
    this.put({ ...env, status } as Fields);
    return true;
  }

  /** Every Deployment runs as soon as it is written. */
  #runClones(): void {
    for (const deployment of this.list(Deployment)) {
      const { generation } = deployment.metadata;
      if (deployment.status?.observedGeneration === generation) continue;
      const conditions = [{ type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' }];
      this.put({ ...deployment, status: { observedGeneration: generation, conditions } } as Fields);
    }
  }
}

/** What applying an object makes of it. */
function applied(live: Stored | undefined, object: KubeObject): KubeObject {
  const managedFields = [{ manager: 'offshoot-environments', operation: 'Apply' }] as const;
  return { ...live, ...object, metadata: { ...live?.metadata, ...object.metadata, managedFields } };
}

/** Where the routes of environments lead. */
function insertedRoutes(cluster: TinyCluster) {
  return cluster.list(VirtualService).flatMap((service) =>
    (service.spec?.http ?? []).filter(isInserted).flatMap(({ name, route = [] }) =>
      route.map(({ destination: { host = '', subset = '' } = {} }) => {
        const meant = resolveHost(host, service, defaultSettings.clusterDomain);
        return { id: `${keyOf(service.metadata)} ${insertedName(name)} to ${meant}`, host: meant, subset };
      }),
    ),
  );
}

function declares(rule: DestinationRule, host: string, subset: string): boolean {
  return (
    resolveHost(rule.spec?.host ?? '', rule, defaultSettings.clusterDomain) === host &&
    !!rule.spec?.subsets?.some((each) => each.name === subset)
  );
}

/** Routes of environments whose requests would get an error: there is no such version, or nobody runs it. */
function danglingRoutes(cluster: TinyCluster): ReadonlySet<string> {
  const [rules, deployments] = [cluster.list(DestinationRule), cluster.list(Deployment)];
  const dangling = insertedRoutes(cluster).filter(({ host, subset }) => {
    const isRuled = rules.some((rule) => declares(rule, host, subset));
    const isRun = deployments.some(
      ({ spec, status }) => status !== undefined && spec.template.metadata?.labels?.['version'] === subset,
    );
    return !isRuled || !isRun;
  });
  return new Set(dangling.map(({ id }) => id));
}

function withoutBigints(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function objectName(step: Step): string {
  const { kind, metadata } = step.do === 'edit' ? step.to : step.object;
  return `${kind} ${keyOf(metadata)}`;
}

function describe(step: Step): string {
  return `${step.do} ${objectName(step)}`;
}
