// The requests of an environment: those that match one of its matches, and those with its key.
import type { DynamicEnv, IstioMatch } from '../../api/dynamicenv.ts';
import { BAGGAGE, baggageRegex } from '../../traffic/baggage.ts';
import type { Settings } from '../settings.ts';

type Spec = DynamicEnv['spec'] | undefined;

/** All matches of an environment: its own, then those for its key. */
export function matchesOf(spec: Spec, { keyHeader }: Pick<Settings, 'keyHeader'>): readonly IstioMatch[] {
  const { istioMatches = [], key } = spec ?? {};
  if (!key) return istioMatches;
  return [
    ...istioMatches,
    { headers: { [keyHeader]: { exact: key } } },
    { headers: { [BAGGAGE]: { regex: baggageRegex(key) } } },
  ];
}

/** The field of the spec that a match comes from. */
export function matchTitle(spec: Spec, index: number): string {
  const own = spec?.istioMatches?.length ?? 0;
  if (index < own) return `istioMatches[${index}]`;
  return index === own ? 'key' : `key in ${BAGGAGE}`;
}
