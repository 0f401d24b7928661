// Why an environment does not get a request: its routes for the host, and the routes before them.
import type { Decision } from '../decide.ts';
import { exclusionFor, mismatchOf } from '../fits.ts';
import type { Mismatch } from '../fits.ts';
import { insertedName } from '../istio/inserted-routes.ts';
import { VirtualService } from '../istio/objects.ts';
import { keyOf } from '../../kube/index.ts';
import type { KubeObject } from '../../kube/index.ts';
import { normalized } from '../request.ts';
import type { Request } from '../request.ts';
import type { CompiledHost, Rule } from '../rules.ts';
import { ruleData } from './decision-data.ts';
import type { RuleData } from './decision-data.ts';
import { ruleText } from './decision-text.ts';
import { mismatchText } from './mismatch-text.ts';

export interface WhyNot {
  /** Whether the environment gets the request after all. */
  readonly gets: boolean;
  /** One sentence, if the environment has no rules for the host. */
  readonly reason?: string;
  /** Its rules for the host, in order, and why each did not take the request. */
  readonly rules: readonly (RuleData & { readonly reason: string })[];
}

/** Why the environment with this version does not get a request, given the decision and the rules of its host. */
export function whyNot(
  version: string,
  request: Request,
  decision: Decision,
  { tiers }: CompiledHost,
  objects: Iterable<KubeObject>,
): WhyNot {
  const { rule: decider, considered, superseded } = decision;
  if (decider !== undefined && isRuleOf(version, decider)) return { gets: true, rules: [] };
  const verdicts = new Map(considered.map(({ rule, mismatch }) => [rule, mismatch]));
  const sent = normalized(request);
  const rules = tiers
    .flatMap((tier) => tier.rules)
    .filter((rule) => isRuleOf(version, rule))
    .map((rule) => {
      const isSuperseded = superseded.includes(rule.virtualService ?? '');
      // If the rule would not match anyway, that is the reason to give, not the rule before it.
      const mismatch = verdicts.get(rule) ?? (isSuperseded ? undefined : misfit(rule, sent));
      const behind = decider === undefined ? 'it is never looked at' : `${ruleText(decider)} takes the request before`;
      const unseen = isSuperseded ? 'its VirtualService is ignored: another one comes first for this host' : behind;
      return { ...ruleData(rule), reason: mismatch === undefined ? unseen : mismatchText(mismatch) };
    });
  return rules.length > 0
    ? { gets: false, rules }
    : { gets: false, rules, reason: withoutRule(routedIn(version, objects)) };
}

function misfit(rule: Rule, request: Request): Mismatch | undefined {
  return exclusionFor(rule, request) ?? mismatchOf(rule, request);
}

function withoutRule(elsewhere: readonly string[]): string {
  if (elsewhere.length === 0) return 'it has no route in any VirtualService';
  return `it has no route for this host and port that applies to the caller; its routes are in ${elsewhere.map((each) => `VirtualService ${each}`).join(', ')}`;
}

/** The name alone can be ambiguous, so the destinations are compared too. */
function isRuleOf(version: string, { name, action }: Rule): boolean {
  const subsets = action.kind === 'route' ? action.destinations.map(({ subset }) => subset) : [];
  return insertedName(name) !== undefined && subsets.includes(version);
}

/** The VirtualServices with routes of an environment. */
function routedIn(version: string, objects: Iterable<KubeObject>): readonly string[] {
  return [...objects].flatMap((object) => {
    if (object.kind !== VirtualService.kind) return [];
    const { metadata, spec } = object as VirtualService;
    const isIn = spec?.http?.some(
      ({ name, route = [] }) =>
        insertedName(name) !== undefined && route.some(({ destination }) => destination?.subset === version),
    );
    return isIn ? [keyOf(metadata)] : [];
  });
}
