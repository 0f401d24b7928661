// Conditions on a request one by one, each as it is or turned round: what a proof puts together and takes apart.
import { fitsHeader, fitsPath, fitsText } from '../fits.ts';
import { headerValues, isGatewaySource, queryValue, splitPath } from '../request.ts';
import type { Request } from '../request.ts';
import type { HeaderCondition, PathCondition, QueryCondition, RuleMatch } from '../rules.ts';

export type Condition =
  /** A label of the pod that calls. */
  | { readonly on: 'label'; readonly name: string; readonly value: string }
  | { readonly on: 'path'; readonly wanted: PathCondition }
  | { readonly on: 'header'; readonly wanted: HeaderCondition }
  | { readonly on: 'query'; readonly wanted: QueryCondition };

/** A condition that must hold, or must not. */
export interface Literal {
  readonly condition: Condition;
  readonly holds: boolean;
}

/** All that a match asks for, apart from the namespace of the caller. */
export function literalsOf({ source, path, headers, query }: RuleMatch): readonly Literal[] {
  const conditions: Condition[] = [
    ...Object.entries(source?.labels ?? {}).map(([name, value]) => ({ on: 'label' as const, name, value })),
    ...(path === undefined ? [] : [{ on: 'path' as const, wanted: path }]),
    ...headers.map((wanted) => ({ on: 'header' as const, wanted })),
    ...query.map((wanted) => ({ on: 'query' as const, wanted })),
  ];
  return conditions.map((condition) => ({ condition, holds: true }));
}

export function opposite({ condition, holds }: Literal): Literal {
  return { condition, holds: !holds };
}

/** Whether a request fulfils all of some literals. */
export function fulfils(request: Request, literals: readonly Literal[]): boolean {
  return literals.every(({ condition, holds }) => isTrue(condition, request) === holds);
}

function isTrue(condition: Condition, request: Request): boolean {
  const { pathname, query } = splitPath(request.path);
  switch (condition.on) {
    case 'label':
      return !isGatewaySource(request.source) && request.source.labels?.[condition.name] === condition.value;
    case 'path':
      return fitsPath(condition.wanted, pathname);
    case 'header':
      return fitsHeader(condition.wanted, headerValues(request, condition.wanted.name));
    case 'query': {
      const found = queryValue(query, condition.wanted.name);
      return found !== undefined && fitsText(condition.wanted.value, found);
    }
  }
}
