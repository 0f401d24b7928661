// A cluster in memory, for property tests: plans and applies as a controller does, but one environment after the other
// and without waiting, and checks after every write whether a request would fail.
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { carryOutAttempts, sharedNotes } from '../../src/controller/attempts.ts';
import { stampStatus } from '../../src/controller/conditions.ts';
import { createLogger, factsOf, Reads } from '../../src/controller/index.ts';
import type { ChoreContext, Plan } from '../../src/controller/index.ts';
import { planAndApply } from '../../src/controller/plan-and-apply.ts';
import {
  defaultSettings,
  environmentTables,
  planEnvironment,
  planVirtualService,
  routeRefusals,
  routeWishes,
  writeRoutes,
} from '../../src/environments/index.ts';
import { CONTROLLER, FINALIZERS, uniqueVersion } from '../../src/environments/names.ts';
import { isScaledDown } from '../../src/environments/lifecycle/sleep.ts';
import { orphanChore } from '../../src/environments/orphans/orphan-chore.ts';
import { untracked } from '../../src/watchable/index.ts';
import { insertedName } from '../../src/traffic/istio/inserted-routes.ts';
import { Deployment, Service } from '../../src/environments/objects.ts';
import { isInserted } from '../../src/traffic/istio/inserted-routes.ts';
import { ApiError, Applier, editStatus, keyOf, Tables } from '../../src/kube/index.ts';
import type { AnyKind, Client, Kind, KubeObject, Outcome, Step } from '../../src/kube/index.ts';
import { resolveHost } from '../../src/traffic/istio/hosts.ts';
import { DestinationRule, VirtualService } from '../../src/traffic/istio/objects.ts';
import { FakeApi } from '../support/fake-api.ts';
import type { LoggedWrite } from '../support/recording-client.ts';

type Content = KubeObject & { readonly spec?: unknown; readonly status?: unknown };

const KINDS: readonly AnyKind[] = [DynamicEnv, Deployment, Service, DestinationRule, VirtualService];

/** The author of the writes of users. */
const USER = 'user';
/** The author of the status of Deployments. */
export const KUBERNETES = 'kubernetes';

/** Every plan must settle: more rounds than this mean that two controllers fight. */
const MAX_ROUNDS = 40;

export class MemoryCluster {
  /** Objects that the server does not let controllers write: `Kind namespace/name`. */
  readonly refused = new Set<string>();
  /** Why the server refuses an object; undefined if it accepts it. */
  refuse: (object: KubeObject) => string | undefined = () => undefined;
  /** Routes that one of our writes left without a rule or without pods. */
  readonly stranded: string[] = [];
  /** Called after every write of controllers, with a description. */
  afterWrite: (write: string) => void = () => {};
  /** Whether the pods of a Deployment start. */
  starts: (deployment: Deployment) => boolean = () => true;
  /** Routes that were added before proxies could know their rule. */
  readonly premature: string[] = [];
  readonly #api = new FakeApi();
  readonly #tables = new Tables(environmentTables);
  readonly #applier = new Applier({
    client: this.#api,
    tables: this.#tables,
    manager: `offshoot-${CONTROLLER}`,
    onWrite: () => this.#lookAtRoutes(),
  });
  readonly #reads: Reads;
  /** By the number of a write: who sent it, if it was not a user. */
  readonly #authors = new Map<number, string>();
  /** When each rule was created, in milliseconds. */
  #createdAt: ReadonlyMap<string, number> = new Map();
  #now = Date.parse('2026-01-01T00:00:00.900Z');
  readonly #maps = { wishes: routeWishes(defaultSettings), refusals: routeRefusals() };
  /** Routes without a destination, and routes to a rule, before the next write. */
  #dangling: ReadonlySet<string> = new Set();
  #leading: ReadonlySet<string> = new Set();

  constructor() {
    this.#api.now = () => this.#now;
    this.#api.admit = (object) => {
      const message = this.refuse(object);
      if (message !== undefined) throw new ApiError(message, { code: 400, reason: 'BadRequest' });
    };
    this.#reads = new Reads({ tables: this.#tables, now: () => this.#now, wake: () => {} });
  }

  /** A cluster with these objects. */
  static async of(objects: readonly KubeObject[]): Promise<MemoryCluster> {
    const cluster = new MemoryCluster();
    for (const object of objects) await cluster.put(object);
    return cluster;
  }

  get client(): Client {
    return this.#api;
  }

  get tables(): Tables {
    return this.#tables;
  }

  get now(): number {
    return this.#now;
  }

  /** Every write, in order. */
  get log(): readonly LoggedWrite[] {
    return this.#api.writes.map(({ kind, key }, i) => ({ object: `${kind} ${key}`, by: this.#authors.get(i) ?? USER }));
  }

  /** All managedFields of an object: tables drop those of others. */
  managedFields(kind: AnyKind, { metadata }: KubeObject): KubeObject['metadata']['managedFields'] {
    const stored = this.#api.all(kind).get(keyOf(metadata));
    return stored?.metadata.uid === metadata.uid ? stored?.metadata.managedFields : undefined;
  }

  list<T extends KubeObject>(kind: Kind<T>): readonly T[] {
    return this.#tables.of(kind).list();
  }

  /** Writes an object, as a user would; its status is kept. */
  async put(object: KubeObject): Promise<void> {
    const kind = kindOf(object);
    const { resourceVersion: _any, ...metadata } = object.metadata;
    const ours = kind === DynamicEnv ? { finalizers: FINALIZERS } : {};
    const next: KubeObject = { ...object, metadata: { ...metadata, ...ours } };
    const isThere = this.#tables.of(kind).get(keyOf(metadata)) !== undefined;
    const written = isThere ? await this.#api.update(kind, next) : await this.#api.create(kind, next);
    this.#tables.of(kind).observe(written);
    this.#remember();
  }

  /** Deletes an object, as a user would: finalizers are respected. */
  async delete(object: KubeObject): Promise<void> {
    const kind = kindOf(object);
    const left = await this.#api.delete(kind, object.metadata);
    if (left === undefined) this.#tables.of(kind).observeDeleted(object);
    else this.#tables.of(kind).observe(left);
    this.#remember();
  }

  /** Removes an object at once, without its finalizers. */
  async remove(object: KubeObject): Promise<void> {
    const kind = kindOf(object);
    const found = this.#tables.of(kind).get(keyOf(object.metadata));
    if (found === undefined) return;
    await this.#api.update(kind, { ...found, metadata: { ...found.metadata, finalizers: [] } });
    await this.#api.delete(kind, found.metadata).catch(() => undefined);
    this.#tables.of(kind).observeDeleted(found);
    this.#remember();
  }

  /** Plans and applies until nothing changes any more; returns the writes that never stop. */
  async settle(): Promise<readonly string[]> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const reconciles = await this.#reconcileAll();
      await this.#runClones();
      if (reconciles.some(({ writes }) => writes.length > 0)) continue;
      const waits = reconciles.map(({ waitMs }) => waitMs).filter((ms) => ms !== undefined);
      if (waits.length === 0) return [];
      this.#now += Math.min(...waits);
    }
    return (await this.#reconcileAll()).flatMap(({ writes }) => writes);
  }

  /** Runs the orphan chore until all orphans are removed whose grace period is over. */
  async removeOrphans(): Promise<void> {
    const chore = orphanChore(defaultSettings);
    const tables = this.#tables;
    const clock = { now: () => this.#now, monotonic: () => this.#now, setTimeout: () => ({ cancel() {} }) };
    const site: ChoreContext = {
      tables,
      facts: factsOf(tables, untracked),
      clock,
      logger: createLogger({ level: 'silent' }),
      apply: (steps) => this.#applier.apply(steps),
      throwUnlessMayWrite: () => {},
      record: () => {},
      read: (kind, ref) => Promise.resolve(tables.of(kind).get(keyOf(ref))),
    };
    for (let times = 0; times < 5; times++) {
      await this.#writingAs('orphan chore', () => chore.run(site));
      this.#now += defaultSettings.orphanGraceMs;
    }
  }

  async #reconcileAll(): Promise<Reconciled[]> {
    const reconciles: Reconciled[] = [];
    for (const env of this.list(DynamicEnv))
      reconciles.push(await this.#reconcile(env, () => this.#planEnvironment(env)));
    for (const service of this.list(VirtualService))
      reconciles.push(await this.#reconcile(service, () => this.#planRoutes(service)));
    return reconciles;
  }

  async #reconcile({ kind, metadata }: KubeObject, run: () => Promise<Plan>): Promise<Reconciled> {
    const before = this.#api.writes.length;
    this.#api.intercept = (request) => this.#refuse(request);
    try {
      const plan = await this.#writingAs(`${kind} ${keyOf(metadata)}`, run);
      const writes = this.#api.writes.slice(before).map(({ verb, kind, key }) => `${verb} ${kind} ${key}`);
      return { writes: plan.finished ? [...writes, 'the end'] : writes, waitMs: plan.requeueAfterMs };
    } finally {
      this.#api.intercept = () => {};
    }
  }

  /** Records the author of all writes of `run`. */
  async #writingAs<T>(author: string, run: () => Promise<T>): Promise<T> {
    const first = this.#api.writes.length;
    try {
      return await run();
    } finally {
      for (let i = first; i < this.#api.writes.length; i++) this.#authors.set(i, author);
    }
  }

  async #planEnvironment(env: DynamicEnv): Promise<Plan> {
    const key = keyOf(env.metadata);
    const { plan } = await planAndApply(
      (refusal) =>
        this.#reads.track(key, (view) => planEnvironment(view, env, defaultSettings, this.#maps.refusals), refusal),
      (steps) => this.#applier.apply(steps),
    );
    const status = plan.status && stampStatus(env, plan.status, this.#now);
    if (status !== undefined) await this.#applier.apply([editStatus(DynamicEnv, env, status)]);
    if (plan.finished) await this.remove(env);
    return plan;
  }

  async #planRoutes(service: VirtualService): Promise<Plan> {
    const plan = this.#reads.track(`routes of ${keyOf(service.metadata)}`, (view) =>
      planVirtualService(view, service, this.#maps, defaultSettings),
    );
    const setTimeout = (callback: () => void): { cancel(): void } => {
      queueMicrotask(callback);
      return { cancel() {} };
    };
    const clock = { now: () => this.#now, monotonic: () => this.#now, setTimeout };
    const apply = (steps: readonly Step[]): Promise<readonly Outcome[]> => this.#applier.apply(steps);
    const { signal } = new AbortController();
    const attempts = writeRoutes(plan.steps ?? [], sharedNotes(clock), this.#maps.refusals);
    await carryOutAttempts(attempts, { apply, clock, signal, paceMs: 0 });
    return plan;
  }

  #refuse({ verb, kind, key }: { verb: string; kind: string; key: string }): void {
    if (verb === 'get' || verb === 'list' || !this.refused.has(`${kind} ${key}`)) return;
    throw new ApiError('no', { code: 403, reason: 'Forbidden' });
  }

  /** Records the effect of our last write on requests. */
  #lookAtRoutes(): void {
    const { verb, kind, key } = this.#api.writes.at(-1)!;
    const [dangling, leading] = [this.#dangling, this.#leading];
    this.#remember();
    // If no host has both a rule and a VirtualService, the route is written anyway: users expect to see it.
    const expected = this.list(DynamicEnv)
      .filter(({ status }) => JSON.stringify(status?.subsetsStatus ?? {}, withoutBigints).includes('common active'))
      .map(({ metadata }) => ` dynamic-environment-${uniqueVersion(metadata)}-`);
    const stranded = [...this.#dangling].filter(
      (route) => !dangling.has(route) && !expected.some((prefix) => route.includes(prefix)),
    );
    this.stranded.push(...stranded.map((route) => `${verb} ${kind} ${key} leaves ${route}`));
    for (const [route, rule] of this.#rulesOfRoutes()) {
      const age = this.#now - this.#createdAt.get(rule)!;
      if (!leading.has(route) && age < defaultSettings.settleMs) this.premature.push(`${route} after ${age} ms`);
    }
    this.afterWrite(`${verb} ${kind} ${key}`);
  }

  #remember(): void {
    const rules = this.list(DestinationRule).map(({ metadata }) => keyOf(metadata));
    this.#createdAt = new Map(rules.map((rule) => [rule, this.#createdAt.get(rule) ?? this.#now]));
    this.#dangling = danglingRoutes(this);
    this.#leading = new Set(this.#rulesOfRoutes().keys());
  }

  /** Routes of environments, with the rule that declares their subset. */
  #rulesOfRoutes(): ReadonlyMap<string, string> {
    const rules = this.list(DestinationRule);
    return new Map(
      insertedRoutes(this).flatMap(({ id, host, subset }) =>
        rules.filter((rule) => declares(rule, host, subset)).map((rule) => [id, keyOf(rule.metadata)] as const),
      ),
    );
  }

  /** Marks every written Deployment as running, if it starts at all. */
  async #runClones(): Promise<void> {
    for (const deployment of this.list(Deployment)) {
      const { metadata, spec, status } = deployment;
      if (status?.observedGeneration === metadata.generation || !this.starts(deployment)) continue;
      const conditions = [{ type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' }];
      const readyReplicas = spec.replicas ?? 1;
      const body = { status: { observedGeneration: metadata.generation, readyReplicas, conditions } };
      const patch = { type: 'merge', body } as const;
      const running = await this.#writingAs(KUBERNETES, () =>
        this.#api.patch(Deployment, metadata, patch, { subresource: 'status' }),
      );
      this.#tables.of(Deployment).observe(running);
    }
    this.#remember();
  }
}

interface Reconciled {
  readonly writes: readonly string[];
  readonly waitMs: number | undefined;
}

function kindOf({ kind: name }: Content): AnyKind {
  return KINDS.find(({ kind }) => kind === name)!;
}

/** The destinations of the routes of environments. */
function insertedRoutes(cluster: MemoryCluster) {
  return cluster.list(VirtualService).flatMap((service) =>
    (service.spec?.http ?? []).filter(isInserted).flatMap(({ name, route = [] }) =>
      route.map(({ destination: { host = '', subset = '' } = {} }) => {
        const resolved = resolveHost(host, service, defaultSettings.clusterDomain);
        return { id: `${keyOf(service.metadata)} ${insertedName(name)} to ${resolved}`, host: resolved, subset };
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

/** Routes of environments whose requests would fail: no rule declares the version, or no pod runs it. */
function danglingRoutes(cluster: MemoryCluster): ReadonlySet<string> {
  const [rules, deployments] = [cluster.list(DestinationRule), cluster.list(Deployment)];
  const dangling = insertedRoutes(cluster).filter(({ host, subset }) => {
    const isRuled = rules.some((rule) => declares(rule, host, subset));
    const isRun = deployments.some(
      (clone) =>
        clone.status !== undefined &&
        !isScaledDown(clone) &&
        clone.spec.template.metadata?.labels?.['version'] === subset,
    );
    return !isRuled || !isRun;
  });
  return new Set(dangling.map(({ id }) => id));
}

function withoutBigints(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
