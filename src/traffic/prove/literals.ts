// Single conditions on a request, each positive or negated: the literals that a proof combines.
import { matchesHeader, matchesPath, matchesText } from '../fits.ts';
import { headerValues, isGatewaySource, queryValue, splitPath } from '../request.ts';
import type { Request } from '../request.ts';
import type { HeaderCondition, PathCondition, QueryCondition, RuleMatch } from '../rules.ts';

export type Condition =
  /** A label of the calling pod. */
  | { readonly on: 'label'; readonly name: string; readonly value: string }
  | { readonly on: 'path'; readonly required: PathCondition }
  | { readonly on: 'header'; readonly required: HeaderCondition }
  | { readonly on: 'query'; readonly required: QueryCondition };

/** A condition that must hold, or must not. */
export interface Literal {
  readonly condition: Condition;
  readonly holds: boolean;
}

/** The conditions of a match, without the namespace of the caller. */
export function literalsOf({ source, path, headers, query }: RuleMatch): readonly Literal[] {
  const conditions: Condition[] = [
    ...Object.entries(source?.labels ?? {}).map(([name, value]) => ({ on: 'label' as const, name, value })),
    ...(path === undefined ? [] : [{ on: 'path' as const, required: path }]),
    ...headers.map((required) => ({ on: 'header' as const, required })),
    ...query.map((required) => ({ on: 'query' as const, required })),
  ];
  return conditions.map((condition) => ({ condition, holds: true }));
}

export function opposite({ condition, holds }: Literal): Literal {
  return { condition, holds: !holds };
}

/** Whether a request fulfils all literals. */
export function fulfils(request: Request, literals: readonly Literal[]): boolean {
  return literals.every(({ condition, holds }) => isTrue(condition, request) === holds);
}

function isTrue(condition: Condition, request: Request): boolean {
  const { pathname, query } = splitPath(request.path);
  switch (condition.on) {
    case 'label':
      return !isGatewaySource(request.source) && request.source.labels?.[condition.name] === condition.value;
    case 'path':
      return matchesPath(condition.required, pathname);
    case 'header':
      return matchesHeader(condition.required, headerValues(request, condition.required.name));
    case 'query': {
      const found = queryValue(query, condition.required.name);
      return found !== undefined && matchesText(condition.required.value, found);
    }
  }
}
