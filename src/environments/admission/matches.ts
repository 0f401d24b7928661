// The rules for headers and labels in the matches of an environment.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { impossibleHeader, refusedHeaders, refusedLabels } from '../../traffic/istio/unusable.ts';
import { invalid } from './refusal.ts';
import type { Refusal } from './refusal.ts';

/** The field of the matches. */
export const MATCHES = ['spec', 'istioMatches'];

/** Each header must have exactly one of exact, prefix and regex; all others are named. */
export function oneFormPerHeader({ metadata, spec }: DynamicEnv): Refusal | undefined {
  const found = (spec?.istioMatches ?? []).flatMap(({ headers }, index) =>
    Object.entries(headers ?? {}).flatMap(([header, { exact, prefix, regex }]) => {
      const forms = [exact, prefix, regex].filter((form) => form !== undefined && form !== '').length;
      if (forms === 1) return [];
      const field = `spec.istioMatch.headers.${header}`;
      const detail = `${field} must validate one and only one schema (oneOf). Found ${forms} valid alternatives`;
      const cause = { reason: 'FieldValueInvalid', message: `Invalid value: "header": ${detail}`, field };
      const at = [...MATCHES, index, 'headers', header];
      const [empty] = Object.entries({ exact, prefix, regex }).flatMap(([form, each]) => (each === '' ? [form] : []));
      const path = `spec.istioMatches[${index}].headers[${header}]`;
      const plain =
        forms === 0 && empty !== undefined
          ? { at: [...at, empty], message: `${path}.${empty}: must not be empty` }
          : { at, message: `${path}: must have exactly one of exact, prefix and regex, and has ${forms}` };
      return [{ cause, at, plain }];
    }),
  );
  const [first] = found;
  if (first === undefined) return undefined;
  const [group, kind, { name }] = ['dynamicenv.riskified.com', 'DynamicEnv', metadata];
  const causes = found.map(({ cause }) => cause);
  const texts = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const all = texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
  const message = `${kind}.${group} ${JSON.stringify(name)} is invalid: ${all}`;
  const details = { name, group, kind, causes };
  const status = { status: 'Failure', code: 422, reason: 'Invalid', message, details } as const;
  return { status, at: first.at, plain: found.map(({ plain }) => plain) };
}

/**
 * A proxy that rejects the name or regular expression of one header rejects all further route updates. A header that no
 * request can have is a mistake, too: matches are immutable, so it is reported before the environment exists.
 */
export function soundHeaders({ spec }: DynamicEnv): Refusal | undefined {
  for (const [index, match] of (spec?.istioMatches ?? []).entries()) {
    const [first] = refusedHeaders(match);
    const never = first === undefined ? impossibleHeader(match) : undefined;
    if (never !== undefined) {
      const { form } = never;
      const path = `spec.istioMatches[${index}].headers[${never.header}].${form}`;
      const detail = `it ${never.why}: no request would reach the environment by this match`;
      return invalid([...MATCHES, index, 'headers', never.header, form], path, JSON.stringify(never.value), detail);
    }
    if (first === undefined) continue;
    const { header, regex, problem } = first;
    if (regex === undefined) {
      return invalid(
        [...MATCHES, index, 'headers', header],
        `spec.istioMatches[${index}].headers`,
        JSON.stringify(header),
        problem,
      );
    }
    const path = `spec.istioMatches[${index}].headers[${header}].regex`;
    const detail = `${problem}: write it in the syntax of https://github.com/google/re2/wiki/Syntax`;
    return invalid([...MATCHES, index, 'headers', header, 'regex'], path, JSON.stringify(regex), detail);
  }
  return undefined;
}

/** Istio rejects a VirtualService with an invalid label, and so all further changes of its routes. */
export function soundSourceLabels({ spec }: DynamicEnv): Refusal | undefined {
  for (const [index, match] of (spec?.istioMatches ?? []).entries()) {
    const [first] = refusedLabels(match);
    if (first === undefined) continue;
    const { name, value, problem } = first;
    const path = `spec.istioMatches[${index}].sourceLabels[${name}]`;
    return invalid([...MATCHES, index, 'sourceLabels', name], path, JSON.stringify(value), problem);
  }
  return undefined;
}
