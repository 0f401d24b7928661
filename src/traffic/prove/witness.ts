// Finds a request that fulfils some literals and none of some matches, or says that there is none. Matches that must not
// be fulfilled are looked at only when the request found so far fulfils them: then one of their conditions is turned
// round, each in its turn.
import { fitsText, isPresence } from '../fits.ts';
import type { Request, Source } from '../request.ts';
import { isGatewaySource } from '../request.ts';
import { fulfils, opposite } from './literals.ts';
import type { Condition, Literal } from './literals.ts';
import type { Shape, Text } from './texts.ts';
import { textFor } from './texts.ts';

/** Where requests are sent, and what is known of them before any condition. */
export interface Place {
  readonly source: Source;
  readonly port: number;
  /** What the Host header may be. */
  readonly authority: Shape;
}

export type Witness = { readonly request: Request } | 'none' | 'unknown';

/** Thrown when a proof takes too many steps. */
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

/** Finds what a request fulfils that it must not: all of some literals. */
export type Avoided = (request: Request) => readonly Literal[] | undefined;

/** Avoids each of some matches. */
export function avoiding(matches: readonly (readonly Literal[])[]): Avoided {
  return (request) => matches.find((each) => fulfils(request, each));
}

export interface Question {
  readonly place: Place;
  /** All of these must hold. */
  readonly literals: readonly Literal[];
  readonly avoided?: Avoided;
  /** No header comes more than once. */
  readonly isSingle?: boolean;
}

export function findRequest(question: Question, budget: Budget): Witness {
  budget.spend();
  const { place, literals, avoided, isSingle = false } = question;
  const found = build(place, literals, isSingle);
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

/** Paths without anything that proxies rewrite are tried first. */
const PATH: Shape = { regex: '/[^?#]*', samples: ['/'] };
const PLAIN_PATH: Shape = { regex: String.raw`/[^?#%.\\]*`, samples: ['/'] };
const HEADER: Shape = { regex: '.*', samples: ['x', ''] };
const PARAMETER: Shape = { regex: '[^&#]*', samples: ['x', ''] };
const METHOD: Shape = { regex: '[!-~]+', samples: ['GET', 'POST', 'PUT', 'DELETE'] };
const SCHEME: Shape = { regex: 'https?', samples: ['http', 'https'] };

/** A request that fulfils literals; they are looked at place by place, which says nothing of each other. */
function build(place: Place, literals: readonly Literal[], isSingle: boolean): Witness {
  const byPlace = Map.groupBy(literals, ({ condition }) => placeOf(condition));
  const labels = labelsFor(place, byPlace.get('label') ?? []);
  if (labels === undefined) return 'none';
  const { source, port } = place;
  let isKnown = true;
  const texts: Record<string, string> = {};
  const headers = new Map<string, string | readonly string[]>();
  const query: string[] = [];
  const all = new Set([...byPlace.keys(), 'header :authority']);
  for (const at of all) {
    const own = byPlace.get(at) ?? [];
    const [on = '', name = ''] = at.split(' ');
    if (on === 'label' || at === 'header :path') continue;
    const values = valuesAt(at, own, place, isSingle);
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
  // Conditions on the whole path are about two places at once: they are not solved, only tried.
  const whole = byPlace.get('header :path') ?? [];
  if (fulfils(request, whole)) return { request };
  return isContradiction(whole) ? 'none' : 'unknown';
}

function placeOf(condition: Condition): string {
  switch (condition.on) {
    case 'label':
      return 'label';
    case 'path':
      return 'path ';
    case 'header': {
      const { name } = condition.wanted;
      return `header ${name === 'host' ? ':authority' : name}`;
    }
    case 'query':
      return `query ${condition.wanted.name}`;
  }
}

/** Labels of the caller; undefined if none fulfil the literals. */
function labelsFor({ source }: Place, literals: readonly Literal[]): Readonly<Record<string, string>> | undefined {
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

/** The values that are sent at a place; none where it stays empty. */
function valuesAt(
  at: string,
  literals: readonly Literal[],
  place: Place,
  isSingle: boolean,
): readonly string[] | 'none' | 'unknown' {
  const shape = { 'header :authority': place.authority, 'header :method': METHOD, 'header :scheme': SCHEME }[at];
  if (shape !== undefined) return single(shape, literals);
  if (at === 'path ') {
    const plain = single(PLAIN_PATH, literals);
    return plain === 'none' ? single(PATH, literals) : plain;
  }
  if (at.startsWith('query ')) return literals.some(({ holds }) => holds) ? single(PARAMETER, literals) : [];
  return headerFor(literals, isSingle);
}

/** The one value of what is always there once. */
function single(shape: Shape, literals: readonly Literal[]): readonly [string] | 'none' | 'unknown' {
  const isWanted = ({ condition, holds }: Literal): boolean =>
    holds !== (condition.on === 'header' && condition.wanted.negated);
  const [wanted, others] = [true, false].map((is) => literals.filter((each) => isWanted(each) === is).map(textOf));
  const found = textFor(shape, wanted!, others!);
  return typeof found === 'string' ? found : [found.text];
}

function textOf({ condition }: Literal): Text {
  if (condition.on === 'label') return { value: { exact: condition.value }, ignoreCase: false };
  return condition.on === 'path' ? condition.wanted : { value: condition.wanted.value, ignoreCase: false };
}

/** Each value of a header is looked at by itself: each that is asked for can be another. */
function headerFor(literals: readonly Literal[], isSingle: boolean): readonly string[] | 'none' | 'unknown' {
  const wanted: Text[] = [];
  const others: Text[] = [];
  let mayBeAbsent = true;
  for (const literal of literals) {
    const { condition, holds } = literal;
    if (condition.on !== 'header') continue;
    const { value, negated } = condition.wanted;
    // What must not be there counts as empty if it is not, unless only its presence is asked for.
    const fitsAbsent = negated && !isPresence(value) && fitsText(value, '');
    (holds === negated ? others : wanted).push(textOf(literal));
    if (holds === negated ? negated && fitsAbsent : !fitsAbsent) mayBeAbsent = false;
  }
  if (mayBeAbsent) return [];
  const groups = isSingle || wanted.length === 0 ? [wanted] : wanted.map((each) => [each]);
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

/** Whether something must hold and must not. */
function isContradiction(literals: readonly Literal[]): boolean {
  const [held, others] = [true, false].map(
    (is) => new Set(literals.filter(({ holds }) => holds === is).map(({ condition }) => JSON.stringify(condition))),
  );
  return [...held!].some((each) => others!.has(each));
}
