// What can be set for the mesh, beside the resource itself.
import { istioctlRenderer } from './installation/render/istioctl.ts';
import type { Renderer } from './installation/render/renderer.ts';
import type { MaintenanceWindow } from './restarts/window.ts';

export interface MeshSettings {
  /** The version of Istio that this release installs. Another one is for trying upgrades out. */
  readonly istioVersion: string;
  /** Where its images are. */
  readonly hub: string;
  readonly imagePullSecret?: string;
  /** Whether a resource may ask for what is not ready for production. */
  readonly allowExperimental: boolean;
  /** How many workloads may be restarting at once. */
  readonly batchSize: number;
  /** How long what is installed must stay the same before workloads are restarted for it. */
  readonly settleMs: number;
  /** How long proxies may take to find another istiod when theirs has ended: nothing is restarted in that time. */
  readonly reconnectMs: number;
  /** When workloads may be restarted that do not say so themselves. */
  readonly window?: MaintenanceWindow;
  /** Restart pods as well that should have a sidecar and have none. */
  readonly restartUninjected: boolean;
  /** Look at everything again after this time, changed or not. */
  readonly reconciliationIntervalMs: number;
  /** How long a failure is left alone before it is tried again: at first, and at most. */
  readonly failureBaseDelayMs: number;
  readonly failureMaxDelayMs: number;
  /** How many failures of all resources together are tried again: at once, and after that. */
  readonly retryLimit: { readonly burst: number; readonly perSecond: number };
  /** What turns the operator into manifests. */
  readonly renderer: Renderer;
  /** The version of this program: a label of what it makes. */
  readonly operatorVersion: string;
  /** A domain for which there should be a gateway. */
  readonly domain?: string;
}

export const defaultMeshSettings: MeshSettings = {
  istioVersion: '1.31.0',
  hub: 'docker.io/istio',
  allowExperimental: false,
  batchSize: 10,
  settleMs: 3_000,
  // A connection to a pod that has just ended is given up after 20 s.
  reconnectMs: 25_000,
  restartUninjected: false,
  reconciliationIntervalMs: 10 * 3_600_000,
  failureBaseDelayMs: 1_000,
  failureMaxDelayMs: 1_000_000,
  retryLimit: { burst: 200, perSecond: 30 },
  renderer: istioctlRenderer({ program: 'istioctl' }),
  operatorVersion: 'unknown',
};
