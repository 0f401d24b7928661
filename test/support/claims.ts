// A fixture for tests of claims: an API in memory with the controllers running on it.
import { timestamp } from '../../src/kube/index.ts';
import { ManagedEnvironment, Space, SpaceRequest } from '../../src/api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass, Environment } from '../../src/api/targets.ts';
import { createLogger, Manager } from '../../src/controller/index.ts';
import type { ControllerDefinition } from '../../src/controller/index.ts';
import type { AnyKind, Kind, KubeObject, ObjectMeta } from '../../src/kube/index.ts';
import { Namespace, Secret } from '../../src/targets/objects.ts';
import { FakeApi } from './fake-api.ts';
import { FakeClock } from './fake-clock.ts';
import { settled } from './until.ts';

const NAMESPACE = 'test-ns';
const CLASS = 'test-sandbox-class';

type Meta = Partial<ObjectMeta>;

export function claim(
  name = 'test-dtc',
  spec: Partial<DeploymentTargetClaim['spec']> = {},
  meta: Meta = {},
): DeploymentTargetClaim {
  return {
    apiVersion: 'appstudio.redhat.com/v1alpha1',
    kind: 'DeploymentTargetClaim',
    metadata: { name, namespace: NAMESPACE, ...meta },
    spec: { deploymentTargetClassName: CLASS, ...spec },
  };
}

export function target(
  name = 'test-dt',
  spec: Partial<DeploymentTarget['spec']> = {},
  meta: Meta = {},
): DeploymentTarget {
  return {
    apiVersion: 'appstudio.redhat.com/v1alpha1',
    kind: 'DeploymentTarget',
    metadata: { name, namespace: NAMESPACE, ...meta },
    spec: {
      deploymentTargetClassName: CLASS,
      kubernetesCredentials: {
        defaultNamespace: 'test-ns',
        apiURL: 'https://api-url/api',
        clusterCredentialsSecret: 'test-secret',
        allowInsecureSkipTLSVerify: false,
      },
      ...spec,
    },
  };
}

export function targetClass(
  reclaimPolicy: 'Delete' | 'Retain',
  name = CLASS,
  provisioner = 'appstudio.redhat.com/devsandbox',
  parameters?: Readonly<Record<string, unknown>>,
): DeploymentTargetClass {
  return {
    apiVersion: 'appstudio.redhat.com/v1alpha1',
    kind: 'DeploymentTargetClass',
    metadata: { name },
    spec: { provisioner, reclaimPolicy, ...(parameters && { parameters }) },
  };
}

export function spaceRequest(name: string, labels: Record<string, string>, meta: Meta = {}): SpaceRequest {
  return {
    apiVersion: 'toolchain.dev.openshift.com/v1alpha1',
    kind: 'SpaceRequest',
    metadata: { name, namespace: NAMESPACE, labels, ...meta },
    spec: { tierName: 'appstudio-env' },
  };
}

const KINDS: readonly AnyKind[] = [
  DeploymentTargetClaim,
  DeploymentTarget,
  DeploymentTargetClass,
  Environment,
  ManagedEnvironment,
  Namespace,
  Secret,
  Space,
  SpaceRequest,
];

export class ClaimWorld {
  readonly api: FakeApi;
  /** Starts at the real time, which the API uses. */
  readonly clock = new FakeClock(timestamp(Date.now()));
  readonly #controllers: readonly ControllerDefinition[];
  #manager: Manager | undefined;

  constructor(controllers: readonly ControllerDefinition[], api = new FakeApi()) {
    this.#controllers = controllers;
    this.api = api;
  }

  /** The same world with other controllers. */
  with(controllers: readonly ControllerDefinition[]): ClaimWorld {
    return new ClaimWorld(controllers, this.api);
  }

  /** Creates objects, with the status that they carry. */
  async have(...objects: readonly (KubeObject & { status?: unknown })[]): Promise<this> {
    for (const { status, ...object } of objects) {
      const kind = KINDS.find((each) => each.kind === object.kind)!;
      await this.api.create(kind, object);
      if (status !== undefined) await this.status(kind, object.metadata.name, status);
    }
    return this;
  }

  async status(kind: AnyKind, name: string, status: unknown): Promise<void> {
    await this.api.patch(kind, this.ref(kind, name), { type: 'merge', body: { status } }, { subresource: 'status' });
  }

  async patch(kind: AnyKind, name: string, body: unknown): Promise<void> {
    await this.api.patch(kind, this.ref(kind, name), { type: 'merge', body });
  }

  async delete(kind: AnyKind, name: string): Promise<void> {
    await this.api.delete(kind, this.ref(kind, name));
  }

  /** Starts the controllers if they do not run, and waits until they are idle. */
  async settle(): Promise<this> {
    if (this.#manager === undefined) {
      this.#manager = new Manager({
        client: this.api,
        controllers: this.#controllers,
        clock: this.clock,
        logger: createLogger({ level: 'silent' }),
      });
      await this.#manager.start();
    }
    await settled(this.#manager);
    return this;
  }

  get<T extends KubeObject>(kind: Kind<T>, name: string): T | undefined {
    const key = kind.namespaced ? `${NAMESPACE}/${name}` : name;
    return this.api.all(kind).get(key) as T | undefined;
  }

  async stop(): Promise<void> {
    await this.#manager?.stop();
    this.#manager = undefined;
  }

  private ref(kind: AnyKind, name: string): { name: string; namespace?: string } {
    return kind.namespaced ? { name, namespace: NAMESPACE } : { name };
  }
}

/** The message of the condition ErrorOccurred; empty if its status is not True. */
export function errorOf(
  object: { status?: { conditions?: readonly { type: string; status: string; message: string }[] } } | undefined,
): string {
  const [first] = object?.status?.conditions ?? [];
  if (first?.type !== 'ErrorOccurred') return '(no ErrorOccurred condition first)';
  return first.status === 'True' ? first.message : '';
}
