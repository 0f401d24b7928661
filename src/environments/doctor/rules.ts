// DestinationRules that are missing or do not declare the default version.
import { keyOf } from '../../kube/index.ts';
import type { EnvironmentFacts, HostFacts } from '../facts.ts';
import { baseRule } from '../rules.ts';
import type { Settings } from '../settings.ts';
import { about } from './finding.ts';
import type { Finding } from './finding.ts';

/** Problems of the DestinationRules of a workload. */
export function ruleFindings({ workloads: [workload] }: EnvironmentFacts, settings: Settings): Finding[] {
  const { subset, hosts } = workload!;
  const missing = hosts.filter(({ otherRules, service }) => !baseRule(otherRules, service, subset, settings));
  return [
    ...missing.map((host) => findingFor(host, subset.namespace, missing.length === hosts.length, settings)),
    ...hosts.flatMap((each) => callersFindings(each, subset.namespace)),
  ];
}

/** Rules in other namespaces, which callers there use. */
function callersFindings({ host, callersRules }: HostFacts, namespace: string): Finding[] {
  return callersRules.map((rule) => ({
    severity: 'warning',
    reason: 'RuleOfCallers',
    ...about(rule),
    message: `pods in namespace ${rule.metadata.namespace} use it when they call ${host} and do not see the rules of environments: their requests to a clone fail`,
    advice: `move it to namespace ${namespace}, where the rules of environments are`,
  }));
}

function findingFor(
  { service, host, otherRules }: HostFacts,
  namespace: string,
  isOnlyHost: boolean,
  { versionLabel, defaultVersion }: Settings,
): Finding {
  const severity = isOnlyHost ? 'error' : 'warning';
  const own = otherRules.find(({ metadata }) => metadata.namespace === namespace);
  const declare = `with the label ${versionLabel}: ${defaultVersion}`;
  if (own !== undefined) {
    const subsets = (own.spec?.subsets ?? []).map(({ name }) => name);
    const found = subsets.length === 0 ? 'it has no subsets' : `its subsets are ${subsets.join(', ')}`;
    return {
      severity,
      reason: 'NoDestinationRule',
      kind: own.kind,
      object: keyOf(own.metadata),
      message: `none of its subsets is ${declare} (${found}): environments get no rule for ${host}`,
      advice: `declare a subset "${defaultVersion}" ${declare}, or set the version that requests get by default: --default-version, or defaultVersion in each environment's subset`,
    };
  }
  const [elsewhere] = otherRules;
  const away = elsewhere && `, and DestinationRule ${keyOf(elsewhere.metadata)} is in another namespace`;
  return {
    severity,
    reason: 'NoDestinationRule',
    kind: 'Service',
    object: `${namespace}/${service}`,
    message: `no DestinationRule in ${namespace} is for ${host}${away ?? ''}: environments get no rule either`,
    advice: `create one with the host ${service} and a subset "${defaultVersion}" ${declare}`,
  };
}
