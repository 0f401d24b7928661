// Validation of an Istio resource beyond its schema. An invalid resource changes nothing.
import { RE2JS } from 're2js';
import type { Authorizer, ComponentResources, IstioSpec } from '../../api/istio.ts';
import { parseDuration } from '../../kube/index.ts';
import { failure } from '../status/failures.ts';
import type { Failure } from '../status/failures.ts';
import { excessOf } from '../installation/operator/excess.ts';

/** An invalid field. */
export interface SpecProblem {
  /** The path below `spec`. */
  readonly at: readonly (string | number)[];
  readonly failure: Failure;
}

/** Why a spec can't be installed; undefined if it can. */
export function invalidSpec(spec: IstioSpec, allowExperimental: boolean): Failure | undefined {
  return specProblems(spec, allowExperimental)[0]?.failure;
}

/** All problems of a spec. */
export function specProblems(spec: IstioSpec, allowExperimental: boolean): readonly SpecProblem[] {
  return [
    ...(allowExperimental ? [] : experimental(spec)),
    ...duplicateAuthorizers(spec),
    ...invalidRegexps(spec),
    ...(spec.config?.authorizers ?? []).flatMap(authorizerProblems),
    ...Object.entries(spec.components ?? {}).flatMap(([name, component]) =>
      resourceProblems(name, component.k8s?.resources),
    ),
  ];
}

function experimental({ experimental: asked }: IstioSpec): readonly SpecProblem[] {
  if (asked === undefined) return [];
  const [field] = Object.keys(asked);
  const at = ['experimental', ...(field === undefined ? [] : [field])];
  const detail = `${pathOf(at)}: allow it with --istio-experimental`;
  return [{ at, failure: failure('experimental', 'istio CR contains experimental feature', { detail }) }];
}

function duplicateAuthorizers({ config }: IstioSpec): readonly SpecProblem[] {
  const names = (config?.authorizers ?? []).map(({ name }) => name);
  return names.flatMap((name, index) => {
    if (names.indexOf(name) === index) return [];
    const at = ['config', 'authorizers', index, 'name'];
    return [{ at, failure: failure('authorizers', `${name} is duplicated`, { detail: pathOf(at) }) }];
  });
}

function invalidRegexps({ config }: IstioSpec): readonly SpecProblem[] {
  return (config?.proxyStatsMatcher?.inclusionRegexps ?? []).flatMap((regexp, index) => {
    try {
      RE2JS.compile(regexp);
      return [];
    } catch (error) {
      const at = ['config', 'proxyStatsMatcher', 'inclusionRegexps', index];
      const cause = `${pathOf(at)}: ${JSON.stringify(regexp)}: ${(error as Error).message}`;
      return [{ at, failure: failure('statsMatcher', cause) }];
    }
  });
}

const HIGHEST_PORT = 65_535;

function authorizerProblems({ port, timeout }: Authorizer, index: number): readonly SpecProblem[] {
  const at = ['config', 'authorizers', index];
  const isPort = port >= 1 && port <= HIGHEST_PORT;
  const ms = timeout === undefined ? 1 : (parseDuration(timeout) ?? 0);
  return [
    ...(isPort ? [] : [invalidField([...at, 'port'], `must be between 1 and ${HIGHEST_PORT}, found ${port}`)]),
    // Istio accepts no smaller unit.
    ...(ms > 0 && Number.isInteger(ms)
      ? []
      : [
          invalidField(
            [...at, 'timeout'],
            `must be whole milliseconds such as 500ms or 2s, found ${JSON.stringify(timeout)}`,
          ),
        ]),
  ];
}

/** Checks requests and limits that are both set; those that exceed a default are found when they are merged. */
function resourceProblems(component: string, resources: ComponentResources | undefined): readonly SpecProblem[] {
  const excess = excessOf(resources);
  if (excess === undefined) return [];
  const at = ['components', component, 'k8s', 'resources', 'requests', excess.resource];
  return [invalidField(at, `must not be more than the limit ${excess.limit}, found ${JSON.stringify(excess.request)}`)];
}

function invalidField(at: SpecProblem['at'], message: string): SpecProblem {
  return { at, failure: failure('field', `${pathOf(at)}: ${message}`) };
}

function pathOf(at: SpecProblem['at']): string {
  return `spec${at.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('')}`;
}
