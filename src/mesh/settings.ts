// The settings of the mesh controllers, besides the resource itself.
import { istioctlRenderer } from './installation/render/istioctl.ts';
import type { Renderer } from './installation/render/renderer.ts';
import type { MaintenanceWindow } from './restarts/window.ts';

export interface MeshSettings {
  /** The version of Istio that this release installs. Other versions are for trying out upgrades. */
  readonly istioVersion: string;
  /** The registry of its images. */
  readonly hub: string;
  readonly imagePullSecret?: string;
  /** Whether a resource may enable experimental features. */
  readonly allowExperimental: boolean;
  /** How many workloads may be restarting at once. */
  readonly batchSize: number;
  /** How long the installation must be stable before workloads are restarted for it. */
  readonly settleMs: number;
  /** How long proxies may take to reconnect to another istiod; nothing is restarted in that time. */
  readonly reconnectMs: number;
  /** The maintenance window of workloads without their own. */
  readonly window?: MaintenanceWindow;
  /** Also restart pods that should have a sidecar but have none. */
  readonly restartUninjected: boolean;
  /** The resync interval, also if nothing has changed. */
  readonly reconciliationIntervalMs: number;
  /** The first and the maximum delay before a failure is retried. */
  readonly failureBaseDelayMs: number;
  readonly failureMaxDelayMs: number;
  /** The rate limit for retries of all resources together. */
  readonly retryLimit: { readonly burst: number; readonly perSecond: number };
  /** Renders the operator to manifests. */
  readonly renderer: Renderer;
  /** The version of this program, as a label of its objects. */
  readonly operatorVersion: string;
  /** A domain that gets a gateway. */
  readonly domain?: string;
}

export const defaultMeshSettings: MeshSettings = {
  istioVersion: '1.31.0',
  hub: 'docker.io/istio',
  allowExperimental: false,
  batchSize: 10,
  settleMs: 3_000,
  // Connections to a terminated pod time out after 20 s.
  reconnectMs: 25_000,
  restartUninjected: false,
  reconciliationIntervalMs: 10 * 3_600_000,
  failureBaseDelayMs: 1_000,
  failureMaxDelayMs: 1_000_000,
  retryLimit: { burst: 200, perSecond: 30 },
  renderer: istioctlRenderer({ program: 'istioctl' }),
  operatorVersion: 'unknown',
};
