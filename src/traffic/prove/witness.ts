// Finds a request that fulfils some literals but none of the avoided matches, or finds that there is none. When the
// request found so far fulfils an avoided match, the search goes on with each of its conditions negated in turn.
import { matchesText, isPresence } from '../fits.ts';
import type { Request, Source } from '../request.ts';
import { isGatewaySource } from '../request.ts';
import { fulfils, opposite } from './literals.ts';
import type { Condition, Literal } from './literals.ts';
import type { Shape, TextCondition } from './texts.ts';
import { textFor } from './texts.ts';

/** All requests from one source to one port, with one of some Host headers. */
export interface RequestScope {
  readonly source: Source;
  readonly port: number;
  /** The possible Host headers. */
  readonly authority: Shape;
}

export type Witness = { readonly request: Request } | 'none' | 'unknown';

/** Thrown when a proof reaches its step limit. */
export class TooComplex extends Error {}

/** Counts the steps of a proof. */
export class Budget {
  private left: number;
  constructor(steps: number) {
    this.left = steps;
  }
  spend(steps = 1): void {
    this.left -= steps;
    if (this.left < 0) throw new TooComplex();
  }
}

/** Returns the avoided match that a request fulfils, if any. */
export type Avoided = (request: Request) => readonly Literal[] | undefined;

/** Avoids all given matches. */
export function avoiding(matches: readonly (readonly Literal[])[]): Avoided {
  return (request) => matches.find((each) => fulfils(request, each));
}

export interface Question {
  readonly scope: RequestScope;
  /** All of these must hold. */
  readonly literals: readonly Literal[];
  readonly avoided?: Avoided;
  /** Whether each header has only one value. */
  readonly isSingle?: boolean;
}

export function findRequest(question: Question, budget: Budget): Witness {
  budget.spend();
  const { scope, literals, avoided, isSingle = false } = question;
  const found = build(scope, literals, isSingle);
  if (typeof found === 'string') return found;
  const fulfilled = avoided?.(found.request);
  if (fulfilled === undefined) return found;
  let isKnown = true;
  for (const literal of fulfilled) {
    const result = findRequest({ ...question, literals: [...literals, opposite(literal)] }, budget);
    if (typeof result !== 'string') return result;
    if (result === 'unknown') isKnown = false;
  }
  return isKnown ? 'none' : 'unknown';
}

/** Paths that proxies do not normalize are tried first. */
const PATH: Shape = { regex: '/[^?#]*', samples: ['/'] };
const PLAIN_PATH: Shape = { regex: String.raw`/[^?#%.\\]*`, samples: ['/'] };
const HEADER: Shape = { regex: '.*', samples: ['x', ''] };
const PARAMETER: Shape = { regex: '[^&#]*', samples: ['x', ''] };
const METHOD: Shape = { regex: '[!-~]+', samples: ['GET', 'POST', 'PUT', 'DELETE'] };
const SCHEME: Shape = { regex: 'https?', samples: ['http', 'https'] };

/** Builds a request that fulfils the literals. Each part of the request is solved on its own. */
function build(scope: RequestScope, literals: readonly Literal[], isSingle: boolean): Witness {
  const byPart = Map.groupBy(literals, ({ condition }) => partOf(condition));
  const labels = labelsFor(scope, byPart.get('label') ?? []);
  if (labels === undefined) return 'none';
  const { source, port } = scope;
  let isKnown = true;
  const texts: Record<string, string> = {};
  const headers = new Map<string, string | readonly string[]>();
  const query: string[] = [];
  const all = new Set([...byPart.keys(), 'header :authority']);
  for (const at of all) {
    const own = byPart.get(at) ?? [];
    const [on = '', name = ''] = at.split(' ');
    if (on === 'label' || at === 'header :path') continue;
    const values = valuesAt(at, own, scope, isSingle);
    if (values === 'none') return 'none';
    if (values === 'unknown') isKnown = false;
    else if (on === 'path' || name.startsWith(':')) texts[name] = values[0]!;
    else if (on === 'query' && values.length > 0) query.push(`${name}=${values[0]}`);
    else if (on === 'header' && values.length > 0) headers.set(name, values.length === 1 ? values[0]! : values);
  }
  if (!isKnown) return 'unknown';
  const { '': path = '/', ':method': method, ':scheme': scheme, ':authority': host } = texts;
  const request: Request = {
    host: host!,
    port,
    path: path + (query.length > 0 ? `?${query.join('&')}` : ''),
    ...(method !== undefined && { method }),
    ...(scheme !== undefined && { scheme }),
    ...(headers.size > 0 && { headers: Object.fromEntries(headers) }),
    source: isGatewaySource(source) ? source : { ...source, labels },
  };
  // Conditions on `:path` cover both the path and the query: they are not solved, only checked.
  const whole = byPart.get('header :path') ?? [];
  if (fulfils(request, whole)) return { request };
  return isContradiction(whole) ? 'none' : 'unknown';
}

function partOf(condition: Condition): string {
  switch (condition.on) {
    case 'label':
      return 'label';
    case 'path':
      return 'path ';
    case 'header': {
      const { name } = condition.required;
      return `header ${name === 'host' ? ':authority' : name}`;
    }
    case 'query':
      return `query ${condition.required.name}`;
  }
}

/** Labels of the caller; undefined if none fulfil the literals. */
function labelsFor(
  { source }: RequestScope,
  literals: readonly Literal[],
): Readonly<Record<string, string>> | undefined {
  const labels: Record<string, string> = { ...source.labels };
  const conditions = literals.flatMap(({ condition, holds }) =>
    condition.on === 'label' ? [{ ...condition, holds }] : [],
  );
  for (const { name, value, holds } of conditions) {
    if (holds && (labels[name] ?? value) !== value) return undefined;
    if (holds) labels[name] = value;
  }
  return conditions.some(({ name, value, holds }) => !holds && labels[name] === value) ? undefined : labels;
}

/** The values of a part of the request; empty if it is left out. */
function valuesAt(
  at: string,
  literals: readonly Literal[],
  scope: RequestScope,
  isSingle: boolean,
): readonly string[] | 'none' | 'unknown' {
  const shape = { 'header :authority': scope.authority, 'header :method': METHOD, 'header :scheme': SCHEME }[at];
  if (shape !== undefined) return single(shape, literals);
  if (at === 'path ') {
    const plain = single(PLAIN_PATH, literals);
    return plain === 'none' ? single(PATH, literals) : plain;
  }
  if (at.startsWith('query ')) return literals.some(({ holds }) => holds) ? single(PARAMETER, literals) : [];
  return headerFor(literals, isSingle);
}

/** The value of a part that always has exactly one. */
function single(shape: Shape, literals: readonly Literal[]): readonly [string] | 'none' | 'unknown' {
  const mustMatch = ({ condition, holds }: Literal): boolean =>
    holds !== (condition.on === 'header' && condition.required.negated);
  const [required, others] = [true, false].map((is) => literals.filter((each) => mustMatch(each) === is).map(textOf));
  const found = textFor(shape, required!, others!);
  return typeof found === 'string' ? found : [found.text];
}

function textOf({ condition }: Literal): TextCondition {
  if (condition.on === 'label') return { value: { exact: condition.value }, ignoreCase: false };
  return condition.on === 'path' ? condition.required : { value: condition.required.value, ignoreCase: false };
}

/** Each value of a header is matched on its own, so each condition can be fulfilled by another value. */
function headerFor(literals: readonly Literal[], isSingle: boolean): readonly string[] | 'none' | 'unknown' {
  const required: TextCondition[] = [];
  const others: TextCondition[] = [];
  let mayBeAbsent = true;
  for (const literal of literals) {
    const { condition, holds } = literal;
    if (condition.on !== 'header') continue;
    const { value, negated } = condition.required;
    // For a negated condition an absent header counts as empty, unless the condition is only about presence.
    const fitsAbsent = negated && !isPresence(value) && matchesText(value, '');
    (holds === negated ? others : required).push(textOf(literal));
    if (holds === negated ? negated && fitsAbsent : !fitsAbsent) mayBeAbsent = false;
  }
  if (mayBeAbsent) return [];
  const groups = isSingle || required.length === 0 ? [required] : required.map((each) => [each]);
  const values: string[] = [];
  let isKnown = true;
  for (const group of groups) {
    const found = textFor(HEADER, group, others);
    if (found === 'none') return 'none';
    if (found === 'unknown') isKnown = false;
    else if (!values.includes(found.text)) values.push(found.text);
  }
  return isKnown ? values : 'unknown';
}

/** Whether a condition is both required and excluded. */
function isContradiction(literals: readonly Literal[]): boolean {
  const [held, others] = [true, false].map(
    (is) => new Set(literals.filter(({ holds }) => holds === is).map(({ condition }) => JSON.stringify(condition))),
  );
  return [...held!].some((each) => others!.has(each));
}
