// Claims and their controllers on an API in memory, with users who act on them.
import { setImmediate } from 'node:timers/promises';
import { claim, target, targetClass } from '../claims.ts';
import { FakeApi } from '../fake-api.ts';
import { ManagedEnvironment, Space, SpaceRequest } from '../../../src/api/spaces.ts';
import {
  DeploymentTarget,
  DeploymentTargetClaim,
  DeploymentTargetClass,
  Environment,
} from '../../../src/api/targets.ts';
import { ApiError } from '../../../src/kube/index.ts';
import type { AnyKind, Kind, KubeObject, Ref } from '../../../src/kube/index.ts';
import { contentKinds, Namespace, Secret, ServiceAccount } from '../../../src/targets/objects.ts';
import { wrongWhenSettled } from './model.ts';
import { CLASSES, parametersOf } from './actions.ts';
import type { Action, ClassName } from './actions.ts';
import { expectedPolicies, leftovers, policyViolations } from './leftovers.ts';
import { Monitor } from './monitor.ts';
import { PROCESS_NAMES, Processes } from './processes.ts';

const HOME = 'test-ns';
/** Namespaces that exist from the start. */
const OURS = new Set([HOME, 'offshoot-system']);
/** A finalizer that blocks the deletion of a namespace. */
const SLOW = 'example.com/slow';
const SECRET = { apiURL: 'https://api-url/api', defaultNamespace: HOME, clusterCredentialsSecret: 'test-secret' };

function classOf(name: ClassName, reclaimPolicy: 'Delete' | 'Retain'): DeploymentTargetClass {
  return targetClass(reclaimPolicy, name, CLASSES[name].provisioner, parametersOf(name));
}

export class ModelWorld {
  readonly api = new FakeApi();
  readonly processes = new Processes(this.api);
  readonly monitor = new Monitor(this.api);

  /** Starts a world with all classes, in which all processes run. */
  static async start(): Promise<ModelWorld> {
    const world = new ModelWorld();
    world.api.now = () => world.processes.clock.now();
    for (const name of OURS)
      await world.api.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    for (const name of Object.keys(CLASSES) as ClassName[]) {
      await world.api.create(DeploymentTargetClass, classOf(name, CLASSES[name].reclaimPolicy));
    }
    for (const name of PROCESS_NAMES) await world.processes.start(name);
    return world;
  }

  async stop(): Promise<void> {
    for (const name of PROCESS_NAMES) await this.processes.stop(name);
    this.monitor.stop();
  }

  all<T extends KubeObject>(kind: Kind<T>): T[] {
    return [...this.api.all(kind).values()] as unknown as T[];
  }

  /** Carries out an action, ignoring API errors. Returns the problems of claims and targets meanwhile. */
  async act(action: Action): Promise<string[]> {
    try {
      await this.#do(action);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
    return this.monitor.check(false);
  }

  /** Waits until everything has settled, and returns the problems. */
  async settle(): Promise<string[]> {
    await this.processes.settle();
    // Advances the clock for retries.
    for (let tries = 0; tries < 4; tries++) {
      await this.#collectGarbage();
      await this.processes.clock.advance(20_000);
      await this.processes.settle();
    }
    const isSettled = this.processes.areAllRunning;
    const problems = this.monitor.check(isSettled);
    return isSettled ? [...problems, ...wrongWhenSettled(this.#facts())] : problems;
  }

  /** Deletes all claims and environments. Returns the problems, with objects that should not be left. */
  async deleteClaims(): Promise<string[]> {
    const expected = expectedPolicies(this);
    for (const { metadata } of this.all(Environment)) await this.api.delete(Environment, metadata);
    for (const { metadata } of this.all(DeploymentTargetClaim)) await this.api.delete(DeploymentTargetClaim, metadata);
    const problems = await this.settle();
    return [...problems, ...leftovers(this, OURS), ...policyViolations(this, expected)];
  }

  /** Deletes all targets, too. Returns the problems, with targets that are left. */
  async deleteTargets(): Promise<string[]> {
    for (const { metadata } of this.all(DeploymentTarget)) await this.api.delete(DeploymentTarget, metadata);
    const problems = await this.settle();
    return [...problems, ...this.all(DeploymentTarget).map(({ metadata }) => `target ${metadata.name} is left`)];
  }

  /** The phases of all targets, and the kinds of the objects that were provisioned. */
  count(): { phases: (string | undefined)[]; left: string[] } {
    const targets = this.all(DeploymentTarget);
    const made = {
      namespace: this.#provisioned(),
      request: this.all(SpaceRequest),
      secret: this.all(Secret),
      space: this.all(Space),
      target: targets,
    };
    return {
      phases: targets.map(({ status }) => status?.phase),
      left: Object.entries(made).flatMap(([what, objects]) => objects.map(() => what)),
    };
  }

  #facts() {
    const byName = <T extends KubeObject>(kind: Kind<T>): Map<string, T> =>
      new Map(this.all(kind).map((each) => [each.metadata.name, each]));
    return {
      claims: byName(DeploymentTargetClaim),
      targets: byName(DeploymentTarget),
      classes: byName(DeploymentTargetClass),
      namespaces: byName(Namespace),
      requests: this.all(SpaceRequest),
      secrets: byName(Secret),
      accounts: new Set(this.all(ServiceAccount).map(({ metadata }) => metadata.uid)),
    };
  }

  async #do(action: Action): Promise<void> {
    const { api, processes } = this;
    switch (action.do) {
      case 'claim': {
        const spec = {
          deploymentTargetClassName: action.class,
          ...(action.target && { targetName: action.target }),
          ...(action.ttl && { ttl: action.ttl }),
        };
        await api.create(DeploymentTargetClaim, claim(action.name, spec));
        return;
      }
      case 'edit claim':
        return this.#patch(DeploymentTargetClaim, action.name, {
          spec: { deploymentTargetClassName: action.class, targetName: action.target },
        });
      case 'delete claim':
        return this.#delete(DeploymentTargetClaim, action.name);
      case 'force claim':
        return this.#force(DeploymentTargetClaim, action.name);
      case 'target': {
        const kubernetesCredentials = { ...SECRET, ...(action.isUsable === false && { clusterCredentialsSecret: '' }) };
        const spec = {
          deploymentTargetClassName: action.class,
          kubernetesCredentials,
          ...(action.claim && { claimRef: action.claim }),
        };
        await api.create(DeploymentTarget, target(action.name, spec));
        return;
      }
      case 'edit target':
        return this.#patch(DeploymentTarget, action.name, {
          metadata: { labels: action.label && { label: action.label } },
          spec: {
            deploymentTargetClassName: action.class,
            claimRef: action.claim,
            kubernetesCredentials:
              action.isUsable === undefined
                ? undefined
                : { clusterCredentialsSecret: action.isUsable ? 'test-secret' : '' },
          },
        });
      case 'delete target':
        return this.#delete(DeploymentTarget, action.name);
      case 'force target':
        return this.#force(DeploymentTarget, action.name);
      case 'recycle target':
        return this.#patch(DeploymentTarget, action.name, {
          metadata: { annotations: { 'dt.appstudio.redhat.com/make-available': 'true' } },
        });
      case 'class':
        return this.#class(action.name, action.policy);
      case 'delete class':
        this.monitor.classesChanged();
        await api.delete(DeploymentTargetClass, { name: action.name });
        return;
      case 'delete request':
        for (const { metadata } of this.#requestsOf(action.claim)) await api.delete(SpaceRequest, metadata);
        return;
      case 'spoil request':
        for (const { metadata } of this.#requestsOf(action.claim)) {
          const body = { status: { conditions: null, namespaceAccess: null } };
          await api.patch(SpaceRequest, metadata, { type: 'merge', body }, { subresource: 'status' });
        }
        return;
      case 'delete namespace':
        return this.#deleteNth(Namespace, this.#provisioned(), action.nth);
      case 'delete space':
        return this.#deleteNth(Space, this.all(Space), action.nth);
      case 'delete secret':
        return this.#deleteNth(Secret, this.all(Secret), action.nth);
      case 'delete account':
        return this.#deleteNth(ServiceAccount, this.all(ServiceAccount), action.nth);
      case 'spoil secret': {
        const [...secrets] = this.all(Secret);
        const one = secrets[action.nth % secrets.length];
        const body = { data: { kubeconfig: 'Z2FyYmFnZQ==' } };
        if (one !== undefined) await api.patch(Secret, one.metadata, { type: 'merge', body });
        return;
      }
      case 'environment': {
        const configuration = { target: { deploymentTargetClaim: { claimName: action.claim } } };
        const spec = { displayName: 'One', deploymentStrategy: 'Manual', configuration };
        await api.create(Environment, {
          apiVersion: 'appstudio.redhat.com/v1alpha1',
          kind: 'Environment',
          metadata: { name: action.claim, namespace: HOME },
          spec,
        });
        return;
      }
      case 'delete environment':
        await api.delete(Environment, { name: action.claim, namespace: HOME });
        return;
      case 'hold namespaces':
        return this.#hold([SLOW]);
      case 'let namespaces go':
        return this.#hold(null);
      case 'wait':
        return processes.clock.advance(action.ms);
      case 'start':
      case 'stop':
        for (const name of action.process === 'all' ? PROCESS_NAMES : [action.process])
          await processes[action.do](name);
        return;
      case 'doom':
        return processes.doom(action.process, action.writes);
      case 'pause':
        for (let turns = action.turns; turns > 0; turns--) await setImmediate();
        return;
      case 'settle':
        return processes.settle();
    }
  }

  /** Namespaces that the controllers created. */
  #provisioned(): Namespace[] {
    return this.all(Namespace).filter(({ metadata }) => !OURS.has(metadata.name));
  }

  async #deleteNth<T extends KubeObject>(kind: Kind<T>, among: readonly T[], nth: number): Promise<void> {
    const one = among[nth % among.length];
    if (one !== undefined) await this.api.delete(kind, one.metadata);
  }

  #requestsOf(claimName: string): SpaceRequest[] {
    return this.all(SpaceRequest).filter(
      ({ metadata }) => metadata.labels?.['appstudio.openshift.io/dtc'] === claimName,
    );
  }

  async #patch(kind: AnyKind, name: string, body: unknown): Promise<void> {
    const of = kind.kind === 'DeploymentTarget' ? 'target' : 'claim';
    this.monitor.userWrote(of, name);
    const { metadata } = await this.api.patch(kind as Kind, this.#ref(name), {
      type: 'merge',
      body: JSON.parse(JSON.stringify(body)) as unknown,
    });
    this.monitor.userWrote(of, name, metadata.resourceVersion);
  }

  async #delete(kind: AnyKind, name: string): Promise<void> {
    this.monitor.userWrote(kind.kind === 'DeploymentTarget' ? 'target' : 'claim', name);
    await this.api.delete(kind as Kind, this.#ref(name));
  }

  /** Removes the finalizers and then deletes the object, so that no controller sees it being deleted. */
  async #force(kind: AnyKind, name: string): Promise<void> {
    if (kind.kind === 'DeploymentTargetClaim') this.monitor.wasForced(name);
    await this.#patch(kind, name, { metadata: { finalizers: null } });
    await this.#delete(kind, name);
  }

  #ref(name: string): Ref {
    return { name, namespace: HOME };
  }

  async #class(name: ClassName, reclaimPolicy: 'Delete' | 'Retain'): Promise<void> {
    this.monitor.classesChanged();
    const object = classOf(name, reclaimPolicy);
    if (!this.api.all(DeploymentTargetClass).has(name)) await this.api.create(DeploymentTargetClass, object);
    else await this.api.patch(DeploymentTargetClass, { name }, { type: 'merge', body: { spec: { reclaimPolicy } } });
  }

  /** Sets or removes the finalizers of all provisioned namespaces. */
  async #hold(finalizers: readonly string[] | null): Promise<void> {
    for (const { metadata } of this.#provisioned()) {
      await this.api.patch(Namespace, { name: metadata.name }, { type: 'merge', body: { metadata: { finalizers } } });
    }
  }

  /** Acts as the garbage collector: deletes the content of deleted namespaces, and objects whose owner is gone. */
  async #collectGarbage(): Promise<void> {
    const uids = new Set([...this.all(SpaceRequest), ...this.all(Environment)].map(({ metadata }) => metadata.uid));
    for (const kind of [Secret, ManagedEnvironment, ...contentKinds] as Kind[]) {
      for (const { metadata } of this.all(kind)) {
        const { namespace = '', ownerReferences: owners = [] } = metadata;
        const isOrphan = owners.length > 0 && owners.every(({ uid }) => !uids.has(uid));
        if (isOrphan || !this.api.all(Namespace).has(namespace)) await this.api.delete(kind, metadata);
      }
    }
  }
}
