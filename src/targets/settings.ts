// What an operator may set for claims and targets: where two generations of the originals differ, which one to follow,
// and where this installation lives.
import type { ClusterAddress } from '../kube/index.ts';
import { SANDBOX_TIER } from './names.ts';
import type { Tier } from './spaces/tiers.ts';

export interface Settings {
  /** Whether a deleted claim waits until its target is gone, or goes at once. */
  readonly claimDeletion: 'wait' | 'eager';
  /** What the provisioner annotation of a claim holds: the provisioner's name, or the class's. */
  readonly provisionerAnnotation: 'provisioner' | 'class';
  /** How a target that refers to nobody yet is given its reference: as a name, or as an object with a name. */
  readonly claimRefShape: 'string' | 'object';
  /** Whether a lost claim is bound again to any target of the name, or only to the one that it had or that names it. */
  readonly lostHeals: 'reference' | 'name';
  /** How long provisioning may take before the claim says that it takes too long; a class may say otherwise. */
  readonly provisioningDeadlineMs: number;
  /** Whether targets made from spaces are marked for clients that should not verify the server's certificate. */
  readonly insecureTargets: boolean;
  /** Whether an environment says that its claim is not bound yet. */
  readonly unboundCondition: boolean;
  /** Whether an environment whose claim is no longer bound loses its managed environment. */
  readonly removeUnbound: boolean;
  /** Whether space requests and spaces are managed here; off where somebody else does it. */
  readonly spaceControllers: boolean;
  /** Namespace of the spaces. */
  readonly hostNamespace: string;
  /** The space that namespaces without the label of one belong to; none when empty. It need not exist. */
  readonly rootSpace: string;
  /** Templates of spaces beside our own. */
  readonly tiers?: readonly Tier[];
  /** The tier of spaces that name none. */
  readonly defaultTier: string;
  /** The cluster that everything is made in. */
  readonly cluster: Cluster;
  /** How long tokens live that are made for targets; they are renewed after two thirds of that. */
  readonly tokenLifetimeMs: number;
}

export interface Cluster extends ClusterAddress {
  /** What spaces call it. */
  readonly name: string;
  /** What it offers to spaces that ask for roles. */
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
