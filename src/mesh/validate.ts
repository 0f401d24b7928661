// What the schema can't tell about an Istio resource. A resource that fails here changes nothing.
import { RE2JS } from 're2js';
import type { IstioSpec } from '../api/istio.ts';
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
  return regexp === undefined ? undefined : failure('statsMatcher', regexp);
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
