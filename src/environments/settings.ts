// Settings for all environments.
import type { DynamicEnv } from '../api/dynamicenv.ts';

export interface Settings {
  /** Label that distinguishes versions of a workload. */
  readonly versionLabel: string;
  /** The version that gets the requests of no environment. */
  readonly defaultVersion: string;
  /** The header that carries the key of an environment. */
  readonly keyHeader: string;
  /** Labels of the base Deployment that its clone does not get. */
  readonly removeLabels: readonly string[];
  /** Labels by which a deployer tracks its objects, which a clone does not get either; a name may end in `*`. */
  readonly trackingLabels: readonly string[];
  /** Whether VirtualServices at a gateway get routes whatever their hosts, such as a public one. */
  readonly gatewayRoutes: boolean;
  /** The cluster domain, after `svc` in the names of services. */
  readonly clusterDomain: string;
  /** The longest time that routes wait for their clone to be ready; 0 does not wait. */
  readonly routeAfterMs: number;
  /**
   * How long a rule must exist before a route leads to its subset; 0 does not wait. Proxies that get both at once
   * respond with errors for a moment. Times of objects are whole seconds, so it takes up to a second longer.
   */
  readonly settleMs: number;
  /** How long a clone is kept after its routes are removed, for in-flight requests and slow proxies. */
  readonly drainMs: number;
  /** Whether orphans are removed, or only reported. */
  readonly removeOrphans: boolean;
  /** The grace period before an orphan is removed. */
  readonly orphanGraceMs: number;
  /** How often to search for orphans. */
  readonly orphanSweepMs: number;
  /** The watched namespaces, if not the whole cluster; others can't be seen. */
  readonly namespaces?: readonly string[];
}

/** The settings for one environment, which may turn off waiting. */
export function settingsFor({ spec }: DynamicEnv, settings: Settings): Settings {
  return spec?.routing?.waitForReady === false ? { ...settings, routeAfterMs: 0, settleMs: 0 } : settings;
}

export const defaultSettings: Settings = {
  versionLabel: 'version',
  defaultVersion: 'shared',
  keyHeader: 'x-env',
  removeLabels: [],
  trackingLabels: ['argocd.argoproj.io/*', 'app.kubernetes.io/instance'],
  gatewayRoutes: true,
  clusterDomain: 'cluster.local',
  routeAfterMs: 60_000,
  settleMs: 1_000,
  drainMs: 2_000,
  removeOrphans: true,
  orphanGraceMs: 600_000,
  orphanSweepMs: 60_000,
};
