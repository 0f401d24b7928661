// Notes about intended effects of an environment that people should know.
import { ruleText, targetText } from '../describe/decision-text.ts';
import { RESPONSE_HEADER } from '../istio/insert-routes.ts';
import type { Rule } from '../rules.ts';
import type { World } from '../world.ts';
import { isBase } from './effects.ts';
import type { ProvenEnvironment } from './effects.ts';

/** How a route of an environment differs from its base route. */
export function notesOn(base: Rule, own: Rule, environment: ProvenEnvironment): readonly string[] {
  if (base.action.kind !== 'route' || own.action.kind !== 'route') return [];
  const { destinations } = base.action;
  const bases = destinations.filter((each) => isBase(each, environment));
  const dropped = destinations.filter((each) => !bases.includes(each));
  const where = ruleText(base);
  const isAnothers = bases.length === 0;
  const header = own.action.destinations
    .flatMap(({ responseHeaders }) => responseHeaders)
    .find(({ name }) => name === RESPONSE_HEADER);
  const names = (isAnothers ? [] : dropped).map(
    ({ host, subset, weight }) => `${host}${subset ? ` subset ${subset}` : ''} (${Math.round(weight)} %)`,
  );
  const lost = own.action.destinations.filter(
    ({ outcome }) => outcome === 'MissingSubset' || outcome === 'NoEndpoints',
  );
  return [
    ...(isAnothers
      ? [`${where} belongs to another environment: requests that match both go to the first of them`]
      : []),
    ...lost.map((each) => `requests with the key are not answered: ${targetText(each)}`),
    ...(names.length === 0 ? [] : [`${where}: requests with the key never reach ${names.join(', ')}`]),
    ...(header === undefined ? [] : [`answers to requests with the key carry ${header.name}: ${header.value}`]),
  ];
}

/** Services that select additional pods because of the environment. */
export function selectionNotes(before: World, after: World, { hosts }: ProvenEnvironment): readonly string[] {
  return hosts.flatMap((host) => {
    const [old, all] = [before, after].map((world) => world.services(host).flatMap((each) => world.workloads(each)));
    const known = new Set(old!.map(({ key }) => key));
    const added = [...new Set(all!.map(({ key }) => key).filter((key) => !known.has(key)))];
    const who = 'callers without a sidecar, and those on ports that are not HTTP, reach it by load balancing';
    return added.map((key) => `Service ${host} selects ${key}: ${who}`);
  });
}
