// RoutingRule → Rule: mutually exclusive fields become a tagged union.
import { routingRule } from '../../api/routing.ts';
import type { RoutingRule } from '../../api/routing.ts';
import { OTHER_ACTIONS } from '../model.ts';
import type { Action, Matcher, Ref, Rule, Selector, ValueMatch, WeightedDestination } from '../model.ts';
import { readMessage } from './proto-json.ts';
import type { FieldProblem, FieldPath } from './proto-json.ts';

type Spec = RoutingRule['spec'];
type Written<T> = NonNullable<T>;
type WrittenMatcher = Written<Written<Spec['requestMatchers']>[number]>;
type WrittenAction = Written<Spec['spec']>;
type WrittenSelector = Written<Spec['destinationSelector']>;
type WrittenValue = Written<WrittenMatcher['headers']>[number];
type WrittenRef = { readonly name?: string | null | undefined; readonly namespace?: string | null | undefined };

export function decodeRule(ref: Ref, spec: unknown, problems: FieldProblem[]): Rule {
  const message = readMessage(routingRule.schemas.spec, spec, ['spec'], problems) as Spec;
  const { targetMesh, sourceSelector, destinationSelector, requestMatchers, spec: action } = message;
  const selector = (field: string, written: WrittenSelector | null | undefined): Selector | undefined =>
    written ? decodeSelector(written, ['spec', field], problems) : undefined;
  return {
    ref,
    targetMesh: targetMesh ? refOf(targetMesh) : undefined,
    source: selector('sourceSelector', sourceSelector),
    destination: selector('destinationSelector', destinationSelector),
    matchers: (requestMatchers ?? []).map((matcher, index) =>
      decodeMatcher(matcher ?? {}, ['spec', 'requestMatchers', index], problems),
    ),
    action: decodeAction(action ?? {}, problems),
  };
}

export function refOf({ name, namespace }: WrittenRef): Ref {
  return { name: name ?? '', namespace: namespace ?? '' };
}

/** The one of these fields that is set. Two of them are a problem, as SuperGloo picks one at random. */
export function chosen<T extends object>(
  message: T,
  names: readonly (keyof T & string)[],
  at: FieldPath,
  problems: FieldProblem[],
): (keyof T & string) | undefined {
  const set = names.filter((name) => message[name] !== undefined && message[name] !== null);
  if (set.length > 1) problems.push({ at: [...at, set[1]!], message: `only one of ${set.join(', ')} may be set` });
  return set[0];
}

function decodeMatcher(matcher: WrittenMatcher, at: FieldPath, problems: FieldProblem[]): Matcher {
  const kind = chosen(matcher, ['prefix', 'exact', 'regex'], at, problems) as 'prefix' | 'exact' | 'regex' | undefined;
  return {
    path: kind && { kind, value: matcher[kind] ?? '' },
    headers: (matcher.headers ?? []).map(valueMatch),
    query: (matcher.queryParameters ?? []).map(valueMatch),
    methods: [...new Set(matcher.methods)],
  };
}

function valueMatch({ name, value, regex }: WrittenValue): ValueMatch {
  return { name: name ?? '', value: value ?? '', regex: regex ?? false };
}

function decodeSelector(written: WrittenSelector, at: FieldPath, problems: FieldProblem[]): Selector {
  const kinds = ['labelSelector', 'upstreamSelector', 'serviceSelector', 'namespaceSelector'] as const;
  const refs = (list: readonly (WrittenRef | null)[] | null | undefined): Ref[] =>
    (list ?? []).map((each) => refOf(each ?? {}));
  switch (chosen(written, kinds, at, problems)) {
    case 'labelSelector':
      return { by: 'labels', labels: written.labelSelector?.labelsToMatch ?? {} };
    case 'upstreamSelector':
      return { by: 'upstreams', refs: refs(written.upstreamSelector?.upstreams) };
    case 'serviceSelector':
      return { by: 'services', refs: refs(written.serviceSelector?.services) };
    case 'namespaceSelector':
      return { by: 'namespaces', namespaces: written.namespaceSelector?.namespaces ?? [] };
    case undefined:
      return { by: 'nothing' };
  }
}

function decodeAction(written: WrittenAction, problems: FieldProblem[]): Action | undefined {
  const kind = chosen(written, ['trafficShifting', ...OTHER_ACTIONS], ['spec', 'spec'], problems);
  if (kind === undefined) return undefined;
  if (kind !== 'trafficShifting') return { kind };
  const { destinations } = written.trafficShifting?.destinations ?? {};
  const at = ['spec', 'spec', 'trafficShifting', 'destinations', 'destinations'];
  return {
    kind,
    destinations: (destinations ?? []).map((each, index): WeightedDestination => {
      const { destination, weight } = each ?? {};
      if (!destination) return { weight: weight ?? 0 };
      chosen(destination, ['upstream', 'service'], [...at, index, 'destination'], problems);
      const { upstream, subset, destinationSpec } = destination;
      return {
        weight: weight ?? 0,
        to: {
          ...(upstream && { upstream: refOf(upstream) }),
          ...(subset && { subset: subset.values ?? {} }),
          hasSpec: Boolean(destinationSpec),
        },
      };
    }),
  };
}
