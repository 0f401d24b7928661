// Meshes that are written to AWS. A chore of the process that leads brings them up to date when what they should be has
// changed, and now and then to heal what somebody else changed there; plans read what came of it from a map.
import { createHash } from 'node:crypto';
import { parse } from 'yaml';
import { Mesh } from '../../api/routing.ts';
import { factsOf } from '../../controller/index.ts';
import type { Chore, ChoreSite, Facts } from '../../controller/index.ts';
import { defineKind } from '../../kube/index.ts';
import type { KubeObject, Ref } from '../../kube/index.ts';
import { Tracker, WatchableMap } from '../../watchable/index.ts';
import { formerMeshes, leaveAll } from '../aws/former.ts';
import { ownerOf, partOfBody } from '../aws/resources.ts';
import { patience } from '../aws/retry.ts';
import { connectAppMesh, SdkMissing } from '../aws/sdk.ts';
import type { Access } from '../aws/sdk.ts';
import { bringUpToDate } from '../aws/writer.ts';
import type { Result, Settled } from '../aws/writer.ts';
import type { Body } from '../backends/appmesh-api.ts';
import { problems } from '../errors.ts';
import type { Problem } from '../errors.ts';
import type { Mesh as MeshValue } from '../model.ts';
import { meshes, valueOf } from '../models/decoded.ts';
import type { PartModels } from '../models/parts.ts';
import { partsIn } from '../models/parts.ts';
import type { PlanModels } from '../models/plans.ts';
import { SETTLE_MS, wantedText } from '../reconcile/decide.ts';
import type { Guards } from '../reconcile/decide.ts';
import { NOTHING } from './backend.ts';
import type { MeshBackend } from './backend.ts';
import { guardsOf, missingInputs } from './inputs.ts';

/** How often it is seen whether something is to be done. */
const LOOK_MS = 1_000;
/** How often a mesh is compared with AWS although nothing has changed here. */
const RESYNC_MS = 300_000;
/** How long to wait after a failure; doubled with every further one. */
const FIRST_RETRY_MS = 2_000;
/** What is in use may be so for a while. */
const ORDINARY_TRIES = 3;

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
const Secret = defineKind<Secret>('v1', 'Secret', 'secrets');
const Namespace = defineKind<KubeObject>('v1', 'Namespace', 'namespaces', { namespaced: false });

/** What came of writing a mesh to AWS the last time. */
interface Outcome {
  readonly problems: readonly Problem[];
  /** Digests of the routers that are in place, by host. */
  readonly routers: Readonly<Record<string, string>>;
  readonly isGone: boolean;
}

/** What is known of a mesh from one time to the next. */
interface Memory {
  settled: Settled;
  /** The name that the mesh has at AWS, and others that it had. */
  name: string | undefined;
  readonly former: Set<string>;
  /** When to look for others that it had before this process began. */
  lookForFormerAt: number;
  /** What is wanted, and since when. */
  wanted: string | undefined;
  wantedSince: number;
  isStale: boolean;
  nextAt: number;
  failures: number;
}

export function awsBackend(plans: PlanModels, bodies: PartModels<Body>, endpoint: string | undefined): MeshBackend {
  const outcomes = new WatchableMap<string, Outcome>({ name: 'meshes at AWS' });
  return {
    chores: [new AwsMeshes(plans, bodies, outcomes, endpoint)],
    reconcile(view, mesh, { isEnding }) {
      const outcome = view.read.get(outcomes, mesh);
      if (isEnding) return { ...NOTHING, problems: outcome?.problems ?? [], isGone: outcome?.isGone ?? false };
      const wanted = partsIn(view, plans, bodies, mesh);
      if (wanted === undefined || outcome === undefined) return { ...NOTHING, isPending: true };
      if ('problem' in wanted) return { ...NOTHING, rejected: wanted.problem };
      return { ...NOTHING, problems: outcome.problems, warnings: wanted.warnings };
    },
    isProgrammed(view, mesh, host) {
      const router = view.read.get(view.model(bodies.routers), { mesh, host });
      return router !== undefined && view.read.get(outcomes, mesh)?.routers[host] === digestOf(router);
    },
  };
}

interface Wanted {
  readonly value: MeshValue;
  readonly isEnding: boolean;
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
  readonly #memories = new Map<string, Memory>();
  readonly #tracker = new Tracker<string>({ wake: (mesh) => (this.#memory(mesh).isStale = true) });
  #cluster: string | undefined;

  constructor(plans: PlanModels, bodies: PartModels<Body>, outcomes: WatchableMap<string, Outcome>, endpoint?: string) {
    this.#plans = plans;
    this.#bodies = bodies;
    this.#outcomes = outcomes;
    this.#endpoint = endpoint;
  }

  async run(site: ChoreSite): Promise<void> {
    const { tables, clock, logger } = site;
    const all = site.facts.keys(Mesh);
    for (const gone of [...this.#memories.keys()].filter((mesh) => !all.includes(mesh))) this.#forget(gone);
    for (const mesh of all) {
      const memory = this.#memory(mesh);
      if (!memory.isStale && clock.monotonic() < memory.nextAt) continue;
      memory.isStale = false;
      const wanted = this.#tracker.track(mesh, (read) => this.#wanted(factsOf(tables, read), mesh));
      memory.nextAt = clock.monotonic() + RESYNC_MS;
      if (wanted === undefined) continue;
      const settledAt = this.#remember(memory, wanted, clock.monotonic());
      const isUnsettled = clock.monotonic() < settledAt;
      const result = await this.#write(site, mesh, { ...wanted, guards: { ...wanted.guards, isUnsettled } }, memory);
      if (result.isWaiting) memory.nextAt = settledAt;
      const isOver = result.problems.length === 0 && !result.isUnfinished;
      memory.failures = isOver ? 0 : memory.failures + 1;
      if (!isOver) {
        memory.nextAt = clock.monotonic() + Math.min(FIRST_RETRY_MS * 2 ** (memory.failures - 1), RESYNC_MS);
        logger.warn({ mesh, problems: result.problems }, 'reconciling a mesh at AWS failed, retrying');
      }
      if (result.writes > 0) logger.info({ mesh, writes: result.writes }, 'wrote to AWS');
      this.#tell(mesh, wanted, result, memory.failures);
    }
  }

  #tell(mesh: string, wanted: Wanted, result: Result, failures: number): void {
    const isStuck = result.isUnfinished && failures > ORDINARY_TRIES;
    const stuck = isStuck ? [problems.writeRefused('a resource', 'AWS: it is still in use by others')] : [];
    const before = this.#outcomes.load(mesh);
    this.#outcomes.store(mesh, {
      problems: [...result.problems, ...stuck],
      // What could not be written may be what was there before.
      routers: result.problems.length === 0 && !result.isUnfinished ? wanted.routers : (before?.routers ?? {}),
      isGone: result.isGone,
    });
  }

  /** When what is wanted will have been the same for long enough to remove the rest. */
  #remember(memory: Memory, { meshName, bodies }: Wanted, now: number): number {
    const text = wantedText(bodies.map(partOfBody));
    if (memory.wanted !== text) Object.assign(memory, { wanted: text, wantedSince: now });
    if (memory.name !== undefined && memory.name !== meshName) {
      memory.former.add(memory.name);
      // What AWS made of resources of another mesh says nothing of this one.
      memory.settled = new Map();
    }
    memory.name = meshName;
    memory.former.delete(meshName);
    return memory.wantedSince + SETTLE_MS;
  }

  async #write(site: ChoreSite, mesh: string, wanted: Wanted, memory: Memory): Promise<Result> {
    const { meshName, guards, bodies } = wanted;
    try {
      this.#cluster ??= (await site.read(Namespace, { name: 'kube-system' }))!.metadata.uid!;
      const api = await connectAppMesh(await this.#access(site, wanted.value));
      try {
        const target = { api, meshName, guards, owner: ownerOf(this.#cluster, mesh), patience: patience(site.clock) };
        const result = await bringUpToDate(bodies, target, memory.settled);
        if (wanted.isEnding || site.clock.monotonic() >= memory.lookForFormerAt) {
          memory.lookForFormerAt = site.clock.monotonic() + RESYNC_MS;
          for (const name of await formerMeshes(target)) memory.former.add(name);
        }
        return await leaveAll(memory.former, target, result);
      } finally {
        api.close();
      }
    } catch (error) {
      const problem =
        error instanceof SdkMissing || error instanceof NoCredentials
          ? problems.backendMissing(error.message)
          : problems.writeRefused(`mesh ${meshName}`, `AWS: ${(error as Error).name}: ${(error as Error).message}`);
      return { writes: 0, problems: [problem], isUnfinished: false, isWaiting: false, isGone: false };
    }
  }

  #wanted(facts: Facts, mesh: string): Wanted | undefined {
    const value = valueOf(facts, meshes, mesh);
    const object = facts.get(Mesh, refOf(mesh));
    if (value === undefined || object === undefined || !value.isAppMesh) return undefined;
    const meshName = value.awsName ?? value.ref.name;
    const isEnding = object.metadata.deletionTimestamp !== undefined;
    const base = { value, isEnding, meshName };
    const plan = facts.read.get(facts.model(this.#plans.meshPlans), mesh);
    if (isEnding) return { ...base, guards: guardsOf(value), bodies: [], routers: {} };
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

  async #access(site: ChoreSite, { region, secret }: MeshValue): Promise<Access> {
    const base = { region, endpoint: this.#endpoint };
    if (secret === undefined) return { ...base, credentials: undefined };
    const found = await site.read(Secret, secret);
    return { ...base, credentials: credentialsIn(found, secret) };
  }

  #memory(mesh: string): Memory {
    let memory = this.#memories.get(mesh);
    if (memory === undefined) {
      memory = {
        settled: new Map(),
        name: undefined,
        former: new Set(),
        lookForFormerAt: 0,
        wanted: undefined,
        wantedSince: 0,
        isStale: true,
        nextAt: 0,
        failures: 0,
      };
      this.#memories.set(mesh, memory);
    }
    return memory;
  }

  #forget(mesh: string): void {
    this.#memories.delete(mesh);
    this.#tracker.forget(mesh);
    this.#outcomes.delete(mesh);
  }
}

class NoCredentials extends Error {}

/** The Secret as Gloo writes it: one entry, which is YAML. */
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
