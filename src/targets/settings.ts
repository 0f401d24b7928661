// Settings for claims and targets: which version of the original to follow where two differ, and where this
// installation runs.
import type { ClusterAddress } from '../kube/index.ts';
import { SANDBOX_TIER } from './names.ts';
import type { Tier } from './spaces/tiers.ts';

export interface Settings {
  /** Whether a deleted claim waits until its target is gone, or is removed at once. */
  readonly claimDeletion: 'wait' | 'eager';
  /** What the provisioner annotation of a claim holds: the provisioner's name, or the class's. */
  readonly provisionerAnnotation: 'provisioner' | 'class';
  /** The shape of a new claimRef: a name, or an object with a name. */
  readonly claimRefShape: 'string' | 'object';
  /** Whether a lost claim is bound again to any target of the same name, or only to one that refers to it. */
  readonly lostHeals: 'reference' | 'name';
  /** How long provisioning may take before the claim reports it; a class may override it. */
  readonly provisioningDeadlineMs: number;
  /** Whether provisioned targets tell clients not to verify the server's certificate. */
  readonly insecureTargets: boolean;
  /** Whether an environment reports that its claim is not bound yet. */
  readonly unboundCondition: boolean;
  /** Whether an environment whose claim is no longer bound loses its managed environment. */
  readonly removeUnbound: boolean;
  /** Whether space requests and spaces are managed here; off if another operator does it. */
  readonly spaceControllers: boolean;
  /** Namespace of the spaces. */
  readonly hostNamespace: string;
  /** The space of namespaces that have no space label; none when empty. It need not exist. */
  readonly rootSpace: string;
  /** Templates of spaces beside our own. */
  readonly tiers?: readonly Tier[];
  /** The tier of spaces that name none. */
  readonly defaultTier: string;
  /** The cluster that everything is made in. */
  readonly cluster: Cluster;
  /** Lifetime of the tokens of targets; they are renewed after two thirds of it. */
  readonly tokenLifetimeMs: number;
}

export interface Cluster extends ClusterAddress {
  /** Its name in the spec of spaces. */
  readonly name: string;
  /** The roles that it offers to spaces. */
  readonly roles: readonly string[];
}

export const defaultSettings: Settings = {
  claimDeletion: 'wait',
  provisionerAnnotation: 'provisioner',
  claimRefShape: 'string',
  lostHeals: 'reference',
  provisioningDeadlineMs: 600_000,
  insecureTargets: false,
  unboundCondition: true,
  removeUnbound: false,
  spaceControllers: true,
  hostNamespace: 'offshoot-system',
  rootSpace: 'offshoot',
  defaultTier: SANDBOX_TIER,
  cluster: {
    name: 'local',
    roles: ['cluster-role.toolchain.dev.openshift.com/tenant'],
    server: 'https://kubernetes.default.svc',
  },
  tokenLifetimeMs: 7 * 86_400_000,
};
