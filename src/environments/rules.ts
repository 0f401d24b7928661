// DestinationRules: finds the base rule of a service, and builds the environment's own rule.
import type { DynamicEnv, Subset } from '../api/dynamicenv.ts';
import { keyOf } from '../kube/objects.ts';
import { fullHost, resolveHost } from '../traffic/istio/hosts.ts';
import { WATCH_ANNOTATION } from './identity/ownership.ts';
import { ruleName, uniqueVersion } from './names.ts';
import type { DestinationRule, RuleSubset } from '../traffic/istio/objects.ts';
import type { Settings } from './settings.ts';

/** The rule that declares the default version of a service: the first by name, so that the choice is stable. */
export function baseRule(
  rules: readonly DestinationRule[],
  service: string,
  subset: Subset,
  settings: Settings,
): { readonly rule: DestinationRule; readonly declares: RuleSubset } | undefined {
  const { clusterDomain } = settings;
  const host = fullHost(service, subset.namespace, clusterDomain);
  const version = subset.defaultVersion || settings.defaultVersion;
  for (const rule of rules) {
    const isMeant = resolveHost(rule.spec?.host ?? '', rule, clusterDomain) === host;
    if (rule.metadata.namespace !== subset.namespace || !isMeant) continue;
    const declares = rule.spec?.subsets?.find(({ labels }) => labels?.[settings.versionLabel] === version);
    if (declares !== undefined) return { rule, declares };
  }
  return undefined;
}

/** The environment's rule: the same host and visibility, one subset with the traffic policy of the default version. */
export function buildRule(
  env: DynamicEnv,
  subset: Subset,
  service: string,
  base: { readonly rule: DestinationRule; readonly declares: RuleSubset },
  settings: Settings,
): DestinationRule {
  const version = uniqueVersion(env.metadata);
  const { host, exportTo } = base.rule.spec ?? {};
  const { trafficPolicy } = base.declares;
  return {
    apiVersion: 'networking.istio.io/v1beta1',
    kind: 'DestinationRule',
    metadata: {
      name: ruleName(env.metadata, subset, service),
      namespace: subset.namespace,
      labels: { [settings.versionLabel]: version },
      annotations: { [WATCH_ANNOTATION]: keyOf(env.metadata) },
    },
    spec: {
      ...(host !== undefined && { host }),
      ...(exportTo && exportTo.length > 0 && { exportTo }),
      subsets: [
        {
          name: version,
          labels: { [settings.versionLabel]: version },
          ...(trafficPolicy !== undefined && { trafficPolicy }),
        },
      ],
    },
  };
}
