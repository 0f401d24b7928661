// What the schema can't tell about an Istio resource. A resource that fails here changes nothing.
import { RE2JS } from 're2js';
import type { ComponentWorkload, IstioSpec } from '../api/istio.ts';
import { failure } from './failures.ts';
import type { Failure } from './failures.ts';

/** Why a spec can't be installed; undefined when it can. */
export function invalidSpec(spec: IstioSpec, allowExperimental: boolean): Failure | undefined {
  if (spec.experimental !== undefined && !allowExperimental) {
    return failure('experimental', 'istio CR contains experimental feature');
  }
  const duplicate = duplicateAuthorizer(spec);
  if (duplicate !== undefined) return failure('authorizers', `${duplicate} is duplicated`);
  const regexp = invalidRegexp(spec);
  if (regexp !== undefined) return failure('statsMatcher', regexp);
  const replicas = reversedReplicas(spec);
  return replicas === undefined ? undefined : failure('invalid', replicas);
}

function duplicateAuthorizer({ config }: IstioSpec): string | undefined {
  const names = (config?.authorizers ?? []).map(({ name }) => name);
  return names.find((name, index) => names.indexOf(name) !== index);
}

function invalidRegexp({ config }: IstioSpec): string | undefined {
  for (const [index, regexp] of (config?.proxyStatsMatcher?.inclusionRegexps ?? []).entries()) {
    try {
      RE2JS.compile(regexp);
    } catch (error) {
      const path = `spec.config.proxyStatsMatcher.inclusionRegexps[${index}]`;
      return `${path}: ${JSON.stringify(regexp)}: ${(error as Error).message}`;
    }
  }
  return undefined;
}

// The API server would refuse the autoscaler, long after the resource was taken.
function reversedReplicas({ components = {} }: IstioSpec): string | undefined {
  const workloads: [string, ComponentWorkload | undefined][] = [
    ['pilot', components.pilot?.k8s],
    ['ingressGateway', components.ingressGateway?.k8s],
    ['egressGateway', components.egressGateway?.k8s],
  ];
  for (const [name, workload] of workloads) {
    const { minReplicas, maxReplicas } = workload?.hpaSpec ?? {};
    if (minReplicas !== undefined && maxReplicas !== undefined && minReplicas > maxReplicas) {
      return `spec.components.${name}.k8s.hpaSpec: minReplicas (${minReplicas}) is more than maxReplicas (${maxReplicas})`;
    }
  }
  return undefined;
}
