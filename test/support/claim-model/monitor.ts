// Watches claims and targets, and compares each change of them with the model.
import type { FakeApi } from '../fake-api.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../../src/api/targets.ts';
import type { Kind, KubeObject, WatchEvent } from '../../../src/kube/index.ts';
import { CLAIM_TRANSITIONS, holderOf, isHeldBy, stateOf, TARGET_TRANSITIONS, uidOf } from './model.ts';

type Of = 'claim' | 'target';
type Observed = DeploymentTargetClaim | DeploymentTarget;

interface Change {
  readonly of: Of;
  readonly name: string;
  readonly version: string;
  /** Undefined if it was deleted. */
  readonly object: Observed | undefined;
}

export class Monitor {
  /** Every transition that was seen, as `claim Pending > Bound`. */
  readonly seen = new Set<string>();
  readonly #claims = new Map<string, DeploymentTargetClaim>();
  readonly #targets = new Map<string, DeploymentTarget>();
  readonly #byUser = new Set<string>();
  readonly #touched = new Set<string>();
  readonly #forced = new Set<string>();
  readonly #stop = new AbortController();
  readonly #policyOf: (className: string) => string | undefined;
  #areClassesChanged = false;
  #changes: Change[] = [];

  constructor(api: FakeApi) {
    this.#policyOf = (className) =>
      (api.all(DeploymentTargetClass).get(className) as DeploymentTargetClass | undefined)?.spec.reclaimPolicy;
    this.#watch(api, DeploymentTargetClaim, 'claim');
    this.#watch(api, DeploymentTarget, 'target');
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Records that a user, not a controller, wrote a version of an object. */
  userWrote(of: Of, name: string, version?: string): void {
    this.#touched.add(`${of} ${name}`);
    if (version !== undefined) this.#byUser.add(version);
  }

  /** Records that a user changes classes, so that the current policy may not be the one that applied. */
  classesChanged(): void {
    this.#areClassesChanged = true;
  }

  /** Records that a user removes the finalizers of a claim. */
  wasForced(name: string): void {
    this.#forced.add(name);
  }

  /** The problems of the changes since the last check. */
  check(isSettled: boolean): string[] {
    const changes = this.#changes.sort((a, b) => Number(a.version) - Number(b.version));
    this.#changes = [];
    const problems = changes.flatMap((change) => this.#check(change));
    if (isSettled) {
      this.#touched.clear();
      this.#forced.clear();
      this.#areClassesChanged = false;
    }
    return problems;
  }

  #watch<T extends Observed & KubeObject>(api: FakeApi, kind: Kind<T>, of: Of): void {
    const onEvent = (event: WatchEvent<T>): void => {
      if (event.type === 'BOOKMARK') return;
      const { name, resourceVersion: version = '' } = event.object.metadata;
      this.#changes.push({ of, name, version, object: event.type === 'DELETED' ? undefined : event.object });
    };
    api.watch(kind, { signal: this.#stop.signal }, onEvent).catch(() => {});
  }

  #check({ of, name, version, object }: Change): string[] {
    const known: Map<string, Observed> = of === 'claim' ? this.#claims : this.#targets;
    const before = known.get(name);
    if (object === undefined) known.delete(name);
    else known.set(name, object);
    const [from, to] = [stateOf(before), stateOf(object)];
    const problems: string[] = [];
    if (from !== to) {
      const transition = `${from} > ${to}`;
      this.seen.add(`${of} ${transition}`);
      const allowed = of === 'claim' ? CLAIM_TRANSITIONS : TARGET_TRANSITIONS;
      if (!allowed.includes(transition)) problems.push(`${of} ${name}: ${transition}`);
    }
    if (of === 'claim' && object === undefined && !this.#forced.has(name)) problems.push(...this.#leftBehind(before!));
    if (before === undefined || object === undefined || this.#byUser.has(version)) return problems;
    const [was, is] = [before, object].map(referenceOf);
    if (was !== is && was !== '' && is !== '') problems.push(`${of} ${name} went from ${was} to ${is}`);
    if (of === 'claim' && from !== 'Bound' && to === 'Bound') problems.push(...this.#notBound(object));
    return problems;
  }

  /**
   * A claim is removed last: its target is gone by then, or no longer refers to it. It does not wait for the deletion
   * of a target that its class retains.
   */
  #leftBehind({ metadata, spec }: Observed): string[] {
    const isKept = this.#areClassesChanged || this.#policyOf(spec.deploymentTargetClassName) !== 'Delete';
    return [...this.#targets.values()]
      .filter((target) => holderOf(target) === metadata.name && uidOf(target) === metadata.uid)
      .filter((target) => target.metadata.deletionTimestamp === undefined || !isKept)
      .map((target) => `claim ${metadata.name} went before ${target.metadata.name}, which is ${stateOf(target)}`);
  }

  /** A claim in phase Bound must be bound, unless a user changed its target meanwhile. */
  #notBound(claim: DeploymentTargetClaim): string[] {
    const { targetName = '' } = claim.spec;
    if (this.#touched.has(`target ${targetName}`)) return [];
    const target = this.#targets.get(targetName);
    const isBound = target !== undefined && isHeldBy(target, claim) && target.status?.phase === 'Bound';
    return isBound ? [] : [`claim ${claim.metadata.name} is Bound to ${targetName}, which is ${stateOf(target)}`];
  }
}

function referenceOf(object: Observed): string {
  return 'kubernetesCredentials' in object.spec
    ? holderOf(object as DeploymentTarget)
    : ((object as DeploymentTargetClaim).spec.targetName ?? '');
}
