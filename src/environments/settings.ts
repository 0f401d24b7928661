// What an operator may set for all environments.
import type { DynamicEnv } from '../api/dynamicenv.ts';

export interface Settings {
  /** Label that tells versions of a workload apart. */
  readonly versionLabel: string;
  /** The version that requests reach which no environment claims. */
  readonly defaultVersion: string;
  /** The header that carries the key of an environment. */
  readonly keyHeader: string;
  /** Labels of the base Deployment that its clone does not get. */
  readonly removeLabels: readonly string[];
  /** Labels by which a deployer knows its own, which its clone does not get either; a name may end in `*`. */
  readonly trackingLabels: readonly string[];
  /** Whether VirtualServices at a gateway get routes for whatever host they lead to the workload, a public one say. */
  readonly gatewayRoutes: boolean;
  /** The domain that the names of services end in, behind `svc`. */
  readonly clusterDomain: string;
  /** Routes wait for their clone to be ready, but no longer than this; 0 does not wait. */
  readonly routeAfterMs: number;
  /**
   * How long a rule must have been there before a route leads to its subset; 0 does not wait. Proxies that get both at
   * once answer with errors for a moment. Times of objects are whole seconds, so it takes up to a second longer.
   */
  readonly settleMs: number;
  /** How long a clone stays after its routes are gone, for requests under way and proxies that learn of it late. */
  readonly drainMs: number;
  /** Whether what environments left behind that are gone without a word is removed, or only told of. */
  readonly removeOrphans: boolean;
  /** How long people have to object before an orphan is removed. */
  readonly orphanGraceMs: number;
  /** How often orphans are looked for. */
  readonly orphanSweepMs: number;
  /** The namespaces that are managed, where that is not the whole cluster; others can't be seen. */
  readonly namespaces?: readonly string[];
}

/** The settings for one environment, which may ask for routes that wait for nothing. */
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
