// Meshes that are written to AWS. A chore of the leader syncs them when their desired state changes, and periodically
// to revert changes by others. Plans read the outcome from a map.
import { createHash } from 'node:crypto';
import { parse } from 'yaml';
import { Mesh } from '../../api/routing.ts';
import { factsOf } from '../../controller/index.ts';
import type { Chore, ChoreContext, Facts } from '../../controller/index.ts';
import { defineKind, WriteForbidden } from '../../kube/index.ts';
import type { KubeObject, Ref } from '../../kube/index.ts';
import { Tracker, WatchableMap } from '../../watchable/index.ts';
import { formerMeshes, cleanUpAll } from '../aws/former.ts';
import { ownerOf, partOfBody } from '../aws/resources.ts';
import { retryPolicy } from '../aws/retry.ts';
import { connectAppMesh, SdkMissing } from '../aws/sdk.ts';
import type { Access } from '../aws/sdk.ts';
import { syncMesh } from '../aws/writer.ts';
import type { Result, StoredSpecs } from '../aws/writer.ts';
import type { Body } from '../backends/appmesh-api.ts';
import { problems } from '../errors.ts';
import type { Problem } from '../errors.ts';
import type { Mesh as MeshValue } from '../model.ts';
import { meshes, valueOf } from '../models/decoded.ts';
import type { PartModels } from '../models/parts.ts';
import { partsIn } from '../models/parts.ts';
import type { PlanModels } from '../models/plans.ts';
import { SETTLE_MS, desiredText } from '../reconcile/decide.ts';
import type { Guards } from '../reconcile/decide.ts';
import { NOTHING } from './backend.ts';
import type { MeshBackend } from './backend.ts';
import { guardsOf, missingInputs } from './inputs.ts';

/** How often the chore checks for work. */
const LOOK_MS = 1_000;
/** How often a mesh is compared with AWS although its desired state has not changed. */
const RESYNC_MS = 300_000;
/** The first delay after a failure; doubled with every further one. */
const FIRST_RETRY_MS = 2_000;
/** A resource that is in use is reported only after this many attempts. */
const TRIES_IN_USE = 3;

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
const Secret = defineKind<Secret>('v1', 'Secret', 'secrets');
const Namespace = defineKind<KubeObject>('v1', 'Namespace', 'namespaces', { namespaced: false });

/** The outcome of the last write of a mesh to AWS. */
interface Outcome {
  readonly problems: readonly Problem[];
  /** Digests of the routers that are in place, by host. */
  readonly routers: Readonly<Record<string, string>>;
  readonly isGone: boolean;
}

/** The state of a mesh between runs of the chore. */
interface MeshState {
  storedSpecs: StoredSpecs;
  /** The name of the mesh at AWS, and its former names. */
  name: string | undefined;
  readonly former: Set<string>;
  /** When to look for names from before this process started. */
  lookForFormerAt: number;
  /** The desired state, and since when. */
  desired: string | undefined;
  desiredSince: number;
  isStale: boolean;
  nextAt: number;
  failures: number;
}

export function awsBackend(plans: PlanModels, bodies: PartModels<Body>, endpoint: string | undefined): MeshBackend {
  const outcomes = new WatchableMap<string, Outcome>({ name: 'meshes at AWS' });
  return {
    chores: [new AwsMeshes(plans, bodies, outcomes, endpoint)],
    reconcile(view, mesh, { isDeleting }) {
      const outcome = view.read.get(outcomes, mesh);
      if (isDeleting) return { ...NOTHING, problems: outcome?.problems ?? [], isGone: outcome?.isGone ?? false };
      const desired = partsIn(view, plans, bodies, mesh);
      if (desired === undefined || outcome === undefined) return { ...NOTHING, isPending: true };
      if ('problem' in desired) return { ...NOTHING, rejected: desired.problem };
      return { ...NOTHING, problems: outcome.problems, warnings: desired.warnings };
    },
    isProgrammed(view, mesh, host) {
      const router = view.read.get(view.model(bodies.routers), { mesh, host });
      return router !== undefined && view.read.get(outcomes, mesh)?.routers[host] === digestOf(router);
    },
  };
}

interface DesiredMesh {
  readonly value: MeshValue;
  readonly isDeleting: boolean;
  readonly meshName: string;
  readonly guards: Guards;
  readonly bodies: readonly Body[];
  readonly routers: Readonly<Record<string, string>>;
}

class AwsMeshes implements Chore {
  readonly name = 'app-mesh';
  readonly everyMs = LOOK_MS;
  readonly #plans: PlanModels;
  readonly #bodies: PartModels<Body>;
  readonly #outcomes: WatchableMap<string, Outcome>;
  readonly #endpoint: string | undefined;
  readonly #states = new Map<string, MeshState>();
  readonly #tracker = new Tracker<string>({ wake: (mesh) => (this.#state(mesh).isStale = true) });
  #cluster: string | undefined;

  constructor(plans: PlanModels, bodies: PartModels<Body>, outcomes: WatchableMap<string, Outcome>, endpoint?: string) {
    this.#plans = plans;
    this.#bodies = bodies;
    this.#outcomes = outcomes;
    this.#endpoint = endpoint;
  }

  async run(site: ChoreContext): Promise<void> {
    const { tables, clock, logger } = site;
    const all = site.facts.keys(Mesh);
    for (const gone of [...this.#states.keys()].filter((mesh) => !all.includes(mesh))) this.#forget(gone);
    for (const mesh of all) {
      const state = this.#state(mesh);
      if (!state.isStale && clock.monotonic() < state.nextAt) continue;
      state.isStale = false;
      const desired = this.#tracker.track(mesh, (read) => this.#desired(factsOf(tables, read), mesh));
      state.nextAt = clock.monotonic() + RESYNC_MS;
      if (desired === undefined) continue;
      const settledAt = this.#remember(state, desired, clock.monotonic());
      const isUnsettled = clock.monotonic() < settledAt;
      const result = await this.#write(site, mesh, { ...desired, guards: { ...desired.guards, isUnsettled } }, state);
      if (result.isWaiting) state.nextAt = settledAt;
      const isOver = result.problems.length === 0 && !result.isUnfinished;
      state.failures = isOver ? 0 : state.failures + 1;
      if (!isOver) {
        state.nextAt = clock.monotonic() + Math.min(FIRST_RETRY_MS * 2 ** (state.failures - 1), RESYNC_MS);
        logger.warn({ mesh, problems: result.problems }, 'reconciling a mesh at AWS failed, retrying');
      }
      if (result.writes > 0) logger.info({ mesh, writes: result.writes }, 'wrote to AWS');
      this.#publish(mesh, desired, result, state.failures);
    }
  }

  #publish(mesh: string, desired: DesiredMesh, result: Result, failures: number): void {
    const isStuck = result.isUnfinished && failures > TRIES_IN_USE;
    const stuck = isStuck ? [problems.writeRefused('a resource', 'AWS: it is still in use by others')] : [];
    const before = this.#outcomes.load(mesh);
    this.#outcomes.store(mesh, {
      problems: [...result.problems, ...stuck],
      // After a failed write, the routers of the previous write may still be in place.
      routers: result.problems.length === 0 && !result.isUnfinished ? desired.routers : (before?.routers ?? {}),
      isGone: result.isGone,
    });
  }

  /** The time from which the desired state counts as settled, so that other resources may be removed. */
  #remember(state: MeshState, { meshName, bodies }: DesiredMesh, now: number): number {
    const text = desiredText(bodies.map(partOfBody));
    if (state.desired !== text) Object.assign(state, { desired: text, desiredSince: now });
    if (state.name !== undefined && state.name !== meshName) {
      state.former.add(state.name);
      // The stored specs belong to the resources of the former mesh.
      state.storedSpecs = new Map();
    }
    state.name = meshName;
    state.former.delete(meshName);
    return state.desiredSince + SETTLE_MS;
  }

  async #write(site: ChoreContext, mesh: string, desired: DesiredMesh, state: MeshState): Promise<Result> {
    const { meshName, guards, bodies } = desired;
    try {
      this.#cluster ??= (await site.read(Namespace, { name: 'kube-system' }))!.metadata.uid!;
      const api = await connectAppMesh(await this.#access(site, desired.value));
      try {
        const target = {
          api,
          meshName,
          guards,
          owner: ownerOf(this.#cluster, mesh),
          retryPolicy: retryPolicy(site.clock),
        };
        const result = await syncMesh(bodies, target, state.storedSpecs);
        if (desired.isDeleting || site.clock.monotonic() >= state.lookForFormerAt) {
          state.lookForFormerAt = site.clock.monotonic() + RESYNC_MS;
          for (const name of await formerMeshes(target)) state.former.add(name);
        }
        return await cleanUpAll(state.former, target, result);
      } finally {
        api.close();
      }
    } catch (error) {
      if (error instanceof WriteForbidden) {
        state.isStale = true;
        throw error;
      }
      const problem =
        error instanceof SdkMissing || error instanceof NoCredentials
          ? problems.backendMissing(error.message)
          : problems.writeRefused(`mesh ${meshName}`, `AWS: ${(error as Error).name}: ${(error as Error).message}`);
      return { writes: 0, problems: [problem], isUnfinished: false, isWaiting: false, isGone: false };
    }
  }

  #desired(facts: Facts, mesh: string): DesiredMesh | undefined {
    const value = valueOf(facts, meshes, mesh);
    const object = facts.get(Mesh, refOf(mesh));
    if (value === undefined || object === undefined || !value.isAppMesh) return undefined;
    const meshName = value.awsName ?? value.ref.name;
    const isDeleting = object.metadata.deletionTimestamp !== undefined;
    const base = { value, isDeleting, meshName };
    const plan = facts.read.get(facts.model(this.#plans.meshPlans), mesh);
    if (isDeleting) return { ...base, guards: guardsOf(value), bodies: [], routers: {} };
    const parts = partsIn(facts, this.#plans, this.#bodies, mesh);
    const isSound = plan !== undefined && !plan.isRejected && missingInputs(facts).length === 0;
    if (!isSound || parts === undefined || 'problem' in parts) return undefined;
    const hosts = plan.hostRoutes.map(({ host }) => host);
    const routers = hosts.map((host): [string, string] => {
      const router = facts.read.get(facts.model(this.#bodies.routers), { mesh, host }) ?? [];
      return [host, digestOf(router)];
    });
    const guards = guardsOf(value, plan);
    return { ...base, guards, bodies: parts.parts, routers: Object.fromEntries(routers) };
  }

  async #access(site: ChoreContext, { region, secret }: MeshValue): Promise<Access> {
    const base = { region, endpoint: this.#endpoint, beforeWrite: () => site.throwUnlessMayWrite() };
    if (secret === undefined) return { ...base, credentials: undefined };
    const found = await site.read(Secret, secret);
    return { ...base, credentials: credentialsIn(found, secret) };
  }

  #state(mesh: string): MeshState {
    let state = this.#states.get(mesh);
    if (state === undefined) {
      state = {
        storedSpecs: new Map(),
        name: undefined,
        former: new Set(),
        lookForFormerAt: 0,
        desired: undefined,
        desiredSince: 0,
        isStale: true,
        nextAt: 0,
        failures: 0,
      };
      this.#states.set(mesh, state);
    }
    return state;
  }

  #forget(mesh: string): void {
    this.#states.delete(mesh);
    this.#tracker.forget(mesh);
    this.#outcomes.delete(mesh);
  }
}

class NoCredentials extends Error {}

/** Reads the Secret as Gloo writes it: a single entry with YAML. */
function credentialsIn(secret: Secret | undefined, { namespace = '', name }: Ref): NonNullable<Access['credentials']> {
  const place = `Secret ${namespace}/${name}, which spec.awsAppMesh.awsSecret names,`;
  const text = secret?.data?.['aws'];
  if (secret === undefined) throw new NoCredentials(`${place} is not there`);
  if (text === undefined)
    throw new NoCredentials(`${place} has no entry "aws": it must be YAML with accessKey and secretKey`);
  const { accessKey, secretKey } = (parse(Buffer.from(text, 'base64').toString()) ?? {}) as Record<string, unknown>;
  if (typeof accessKey !== 'string' || typeof secretKey !== 'string') {
    throw new NoCredentials(`${place} has an entry "aws" without accessKey and secretKey`);
  }
  return { accessKeyId: accessKey, secretAccessKey: secretKey };
}

function digestOf(bodies: readonly Body[]): string {
  return createHash('sha256').update(JSON.stringify(bodies)).digest('hex').slice(0, 16);
}

function refOf(key: string): Ref {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}
