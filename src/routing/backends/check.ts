// Checks a rule against the capability table of a back end. A feature that it can't express is a problem of the rule
// or, where SuperGloo drops it silently, removed.
import { problems } from '../errors.ts';
import type { Match, Mode, ValueMatch } from '../model.ts';
import { STEP } from '../resolve/rule.ts';
import type { RulePlan, RuleProblem } from '../resolve/rule.ts';
import type { Backend, Capabilities, Feature } from './backend.ts';
import { FEATURES } from './backend.ts';

type Naming = Pick<Backend<unknown>, 'nodeName' | 'routerName' | 'hostLimit'>;
type Checked = Pick<Backend<unknown>, 'capabilities' | 'limits' | 'mesh'>;

/** The Go type name in messages of SuperGloo, which people search for. */
const goName = (of: string, kind: string): string => `*v1.${of}_${kind[0]!.toUpperCase()}${kind.slice(1)}`;

export function checkRule(plan: RulePlan, backend: Checked, mode: Mode): RulePlan {
  const capabilities = backend.capabilities[mode];
  return {
    ...plan,
    matches: plan.matches.map(({ index, match }) => ({ index, match: withoutDropped(match, capabilities) })),
    problems: [
      ...plan.problems,
      ...matchProblems(plan, capabilities, mode),
      ...actionProblems(plan, backend, mode),
      ...(mode === 'strict' ? backend.limits(plan) : []),
    ],
  };
}

/** The functions of a back end for a mesh as a whole. */
export function namingOf({ nodeName, routerName, hostLimit }: Naming): Naming {
  return { nodeName, routerName, hostLimit };
}

function matchProblems({ rule, matches }: RulePlan, capabilities: Capabilities, mode: Mode): RuleProblem[] {
  return matches.flatMap(({ index, match }) => {
    const refused = featuresOf(match).find((feature) => capabilities[feature].support === 'refused');
    if (refused === undefined) return [];
    const problem =
      mode === 'compat'
        ? problems.matcherUnsupported(rule, goName('Matcher', match.path.kind))
        : problems.matcherUnsupported(
            rule,
            FEATURES[refused],
            `spec.requestMatchers[${index}]: ${capabilities[refused].note}`,
          );
    return [{ ...problem, step: STEP.matchers, index }];
  });
}

function actionProblems(plan: RulePlan, { capabilities, mesh }: Checked, mode: Mode): RuleProblem[] {
  const { rule, action, source, subsets } = plan;
  const can = capabilities[mode];
  const found: RuleProblem[] = [];
  if (action === undefined || can[action].support === 'refused') {
    const name = mode === 'strict' ? action : action && goName('RoutingRuleSpec', action);
    const problem = problems.typeUnsupported(
      rule,
      mesh,
      name ?? (mode === 'strict' ? 'nothing in spec.spec' : '<nil>'),
    );
    found.push({ ...problem, step: STEP.action, index: 0 });
  }
  if (subsets.length > 0 && can.subset.support === 'refused') {
    found.push({ ...problems.subsetUnsupported(rule, subsets[0]!), step: STEP.limits, index: 0 });
  }
  if (source !== undefined && can.sourceSelector.support === 'refused') {
    found.push({ ...problems.sourceUnsupported(rule, can.sourceSelector.note), step: STEP.source, index: 0 });
  }
  return found;
}

const headerFeature = (each: ValueMatch): Feature =>
  each.value === '' ? 'headerPresence' : each.regex ? 'headerRegex' : 'headerExact';
const queryFeature = (each: ValueMatch): Feature =>
  each.value === '' ? 'queryPresence' : each.regex ? 'queryRegex' : 'queryExact';
const PATH_FEATURE = { prefix: 'pathPrefix', exact: 'pathExact', regex: 'pathRegex' } as const;

/** The features that a match uses. */
function featuresOf({ path, headers, query, methods }: Match): readonly Feature[] {
  return [
    PATH_FEATURE[path.kind],
    ...headers.map(headerFeature),
    ...query.map(queryFeature),
    ...(methods.length > 0 ? (['methods'] as const) : []),
  ];
}

function withoutDropped(match: Match, capabilities: Capabilities): Match {
  const isKept = (feature: Feature): boolean => capabilities[feature].support !== 'dropped';
  return {
    path: match.path,
    headers: match.headers.filter((each) => isKept(headerFeature(each))),
    query: match.query.filter((each) => isKept(queryFeature(each))),
    methods: isKept('methods') ? match.methods : [],
  };
}
