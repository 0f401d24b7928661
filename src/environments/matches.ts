// Which requests are for an environment: those that fit one of its matches, and those that carry its key.
import type { DynamicEnv, IstioMatch } from '../api/dynamicenv.ts';
import { BAGGAGE, baggageRegex } from '../traffic/baggage.ts';
import type { Settings } from './settings.ts';

type Spec = DynamicEnv['spec'] | undefined;

/** All matches of an environment: its own, then those that its key stands for. */
export function matchesOf(spec: Spec, { keyHeader }: Pick<Settings, 'keyHeader'>): readonly IstioMatch[] {
  const { istioMatches = [], key } = spec ?? {};
  if (!key) return istioMatches;
  return [
    ...istioMatches,
    { headers: { [keyHeader]: { exact: key } } },
    { headers: { [BAGGAGE]: { regex: baggageRegex(key) } } },
  ];
}

/** How people know one of the matches: by the field that it comes from. */
export function matchTitle(spec: Spec, index: number): string {
  const own = spec?.istioMatches?.length ?? 0;
  if (index < own) return `istioMatches[${index}]`;
  return index === own ? 'key' : `key in ${BAGGAGE}`;
}
