// The parts of the control plane, by name. `run` and `up` start them; `crds` prints their definitions.
import { dynamicEnv } from '../../api/dynamicenv.ts';
import type { Resource } from '../../api/resource.ts';
import { istio } from '../../api/istio.ts';
import { mesh as routedMesh, meshGroup, routingRule } from '../../api/routing.ts';
import { managedEnvironment, space, spaceBinding, spaceRequest } from '../../api/spaces.ts';
import { upstream } from '../../api/upstream.ts';
import { deploymentTarget, deploymentTargetClaim, deploymentTargetClass, environment } from '../../api/targets.ts';
import type {
  AdmissionHandler,
  ControllerDefinition,
  ValidatingWebhookConfiguration,
  WebhookAddress,
} from '../../controller/index.ts';
import {
  environmentAdmission,
  environments,
  WEBHOOK_CONFIGURATION,
  WEBHOOK_PATH,
  webhookConfiguration,
} from '../../environments/index.ts';
import type { Settings } from '../../environments/index.ts';
import type { Client, ConnectConfig, KubeObject, Tables } from '../../kube/index.ts';
import { LEASE, mesh } from '../../mesh/index.ts';
import type { MeshSettings as AllMeshSettings } from '../../mesh/index.ts';
import { routing } from '../../routing/index.ts';
import type { Settings as AllRoutingSettings } from '../../routing/index.ts';
import {
  defaultSettings,
  targets,
  targetsAdmission,
  TARGETS_WEBHOOK_CONFIGURATION,
  TARGETS_WEBHOOK_PATHS,
  targetsWebhookConfiguration,
} from '../../targets/index.ts';
import type { Settings as AllTargetSettings } from '../../targets/index.ts';
import { failure } from '../exit.ts';
import { version } from '../version/version.ts';

export interface PartWebhook {
  readonly paths: readonly string[];
  readonly configurationName: string;
  configuration(address: WebhookAddress, bundle: string | undefined): ValidatingWebhookConfiguration;
  handler(client: Client, tables: Tables, options: Pick<PartOptions, 'settings'>): AdmissionHandler;
}

/** The settings of the claim system; those of its cluster default to our own connection. */
export type TargetSettings = Partial<Omit<AllTargetSettings, 'cluster'>> & {
  readonly cluster?: Partial<AllTargetSettings['cluster']>;
};

/** The settings of routing rules. */
export type RoutingSettings = Partial<AllRoutingSettings>;

/** The settings of the Istio lifecycle. */
export type MeshSettings = Partial<AllMeshSettings>;

/** What parts are started with. */
interface PartOptions {
  readonly settings: Partial<Settings>;
  readonly targets?: TargetSettings;
  readonly routing?: RoutingSettings;
  readonly mesh?: MeshSettings;
  /** How we reach the cluster. */
  readonly config: ConnectConfig;
  /** The namespace that we run in. */
  readonly namespace: string;
}

export interface Part {
  readonly name: string;
  /** The Lease of its controllers: that of the operator that the part replaces, so that only one of them is active. */
  readonly lease: string;
  /** The Lease of another operator that does some of the work of this part, and the flag that leaves it to that one. */
  readonly other?: { readonly lease: string; readonly flag: string };
  /** Our kinds that the part requires. */
  readonly resources: readonly Resource<KubeObject>[];
  controllers(options: PartOptions): readonly ControllerDefinition[];
  readonly webhook?: PartWebhook;
}

const PARTS: readonly Part[] = [
  {
    name: 'environments',
    lease: 'dynamic-environment-lock',
    resources: [dynamicEnv],
    controllers: ({ settings }) => environments(settings),
    webhook: {
      paths: [WEBHOOK_PATH],
      configurationName: WEBHOOK_CONFIGURATION,
      configuration: webhookConfiguration,
      handler: (client, tables, { settings }) => environmentAdmission(client, tables, settings),
    },
  },
  {
    name: 'targets',
    lease: '53746cb8.redhat.com',
    other: { lease: 'dc07038f.toolchain.host.operator', flag: '--space-controllers=false' },
    resources: [
      deploymentTarget,
      deploymentTargetClaim,
      deploymentTargetClass,
      environment,
      spaceRequest,
      space,
      spaceBinding,
      managedEnvironment,
    ],
    controllers: ({ config, namespace, targets: { cluster, ...settings } = {} }) =>
      targets({ hostNamespace: namespace, ...settings, cluster: { ...reachableAt(config), ...cluster } }),
    webhook: {
      paths: TARGETS_WEBHOOK_PATHS,
      configurationName: TARGETS_WEBHOOK_CONFIGURATION,
      configuration: targetsWebhookConfiguration,
      handler: (_client, tables) => targetsAdmission(tables),
    },
  },
  {
    name: 'routing',
    lease: 'offshoot-routing',
    resources: [routedMesh, meshGroup, routingRule, upstream],
    controllers: ({ routing: settings = {} }) => routing(settings),
  },
  {
    name: 'mesh',
    lease: LEASE,
    resources: [istio],
    controllers: ({ mesh: settings = {} }) => mesh({ operatorVersion: version(), ...settings }),
  },
];

/** The cluster address in credentials of targets: the one that we use. */
function reachableAt({ server, caPem, insecureSkipTlsVerify }: ConnectConfig): typeof defaultSettings.cluster {
  return {
    ...defaultSettings.cluster,
    server,
    ...(caPem !== undefined && { caPem }),
    ...(insecureSkipTlsVerify !== undefined && { insecureSkipTlsVerify }),
  };
}

/** The parts with these names, or all of them. Throws for an unknown name. */
export function partsOf(names?: readonly string[]): readonly Part[] {
  if (names === undefined) return PARTS;
  return names.map((name) => {
    const part = PARTS.find((each) => each.name === name);
    if (part !== undefined) return part;
    throw failure(
      'InvalidFlag',
      `there is no controller "${name}"; known: ${PARTS.map((each) => each.name).join(', ')}`,
    );
  });
}
