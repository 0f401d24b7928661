// Matches of environments that get no route: proxies would refuse it, it would match every request, or no request can
// match it.
import type { IstioMatch } from '../../api/dynamicenv.ts';
import { labelProblem } from '../../kube/selector.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { baggageKey } from '../baggage.ts';
import { intersects } from '../regex/language.ts';
import { regexProblem } from '../regex/regex.ts';
import { conditionsOn, intersect, isPresence, oneForm } from './matches.ts';
import type { HeaderMatch, HttpMatch, HttpRoute } from './objects.ts';

/** Why a match of an environment can't be used: it would match every request or none, or Istio would refuse it. */
export function unusable(match: IstioMatch): string | undefined {
  const { headers = {}, sourceLabels = {} } = match;
  const missing = missingCondition(match);
  if (missing !== undefined) return missing;
  const [label] = refusedLabels({ sourceLabels });
  if (label !== undefined) return `source label ${JSON.stringify(`${label.name}=${label.value}`)}: ${label.problem}`;
  const [refused] = refusedHeaders({ headers });
  if (refused === undefined) {
    const never = impossibleHeader({ headers });
    return (
      never &&
      `no request fits it, because ${never.form} ${JSON.stringify(never.value)} of header ${never.header} ${never.why}`
    );
  }
  const { header, regex, problem } = refused;
  return `header ${regex === undefined ? JSON.stringify(header) : `${header}: regex ${JSON.stringify(regex)}`}: ${problem}`;
}

/** What a match lacks that would limit its requests. */
export function missingCondition({ headers = {}, sourceLabels = {} }: IstioMatch): string | undefined {
  if (Object.keys(headers).length + Object.keys(sourceLabels).length === 0) return 'it asks for nothing';
  const vague = Object.entries(headers).find(([, { exact, prefix, regex }]) => !exact && !prefix && !regex);
  return vague && `it has neither exact, prefix nor regex for header ${vague[0]}`;
}

/** The headers of a match that a proxy would refuse, for their names or their regular expressions. */
export function refusedHeaders({ headers }: Pick<HttpMatch, 'headers'>): readonly RefusedHeader[] {
  return Object.entries(headers ?? {}).flatMap(([header, match]): readonly RefusedHeader[] => {
    if (header === '' || INVALID_NAME.test(header)) return [{ header, problem: 'no header has such a name' }];
    const { regex } = oneForm(match);
    const problem = !regex || isPresence({ regex }) ? undefined : regexProblem(regex);
    return problem === undefined ? [] : [{ header, regex: regex!, problem: `not valid RE2 (${problem})` }];
  });
}

/** The source labels of a match for which Istio would refuse the VirtualService as a whole. */
export function refusedLabels({ sourceLabels }: Pick<HttpMatch, 'sourceLabels'>): readonly RefusedLabel[] {
  return Object.entries(sourceLabels ?? {}).flatMap(([name, value]) => {
    const problem = labelProblem(name, value);
    return problem === undefined ? [] : [{ name, value, problem }];
  });
}

/** What proxies or Istio would refuse in a match, with everything that is beside it. */
export function refusedParts(match: HttpMatch): readonly (RefusedHeader | RefusedLabel)[] {
  return [...refusedHeaders(match), ...refusedLabels(match)];
}

/** Whether a route would be refused for one of its conditions, but not for those that a base route has too. */
export function hasRefusedPart({ match = [] }: HttpRoute, bases: readonly HttpRoute[] = []): boolean {
  const refused = match.flatMap(refusedParts);
  if (refused.length === 0) return false;
  const ofBases = bases.flatMap((base) => (base.match ?? []).flatMap(refusedParts));
  return refused.some((each) => !ofBases.some((other) => jsonEqual(other, each)));
}

/** Characters that Envoy refuses in the name of a header. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const INVALID_NAME = /[\0\r\n]/;

interface RefusedHeader {
  readonly header: string;
  /** Absent if it is the name that is refused. */
  readonly regex?: string;
  readonly problem: string;
}

interface RefusedLabel {
  readonly name: string;
  readonly value: string;
  readonly problem: string;
}

/** A condition that no request can fulfil. */
interface ImpossibleHeader {
  readonly header: string;
  readonly form: 'exact' | 'prefix' | 'regex';
  readonly value: string;
  readonly why: string;
}

/** The first header of a match that no request can have. */
export function impossibleHeader({ headers = {} }: IstioMatch): ImpossibleHeader | undefined {
  // Claims of tokens may have any value.
  const entries = Object.entries(headers).filter(([name]) => !name.startsWith('@'));
  const before: [string, HeaderMatch][] = [];
  for (const [header, match] of entries) {
    const condition = oneForm(match);
    const why = impossibleValue(condition) ?? contradiction(condition, conditionsOn(before, header));
    const [[form, value]] = Object.entries(condition) as [[ImpossibleHeader['form'], string]];
    if (why !== undefined) return { header, form, value, why };
    before.push([header, condition]);
  }
  return undefined;
}

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
/** Every value that a header can have; the comparison of languages knows of no control characters but the tab. */
const ANY_VALUE = String.raw`(?:[^ \t](?:.*[^ \t])?)?`;

/** Why no header has a value that fulfils a condition. */
function impossibleValue({ exact, prefix, regex }: HeaderMatch): string | undefined {
  if (regex !== undefined) {
    // That of a key always matches something, and there may be many.
    const isKey = baggageKey(regex) !== undefined;
    return isKey || intersects(regex, ANY_VALUE) !== false ? undefined : 'matches no value that a header can have';
  }
  const value = exact ?? prefix ?? '';
  if (CONTROL.test(value)) return 'has a control character, such as a line break, and no header can have one';
  if (/^[ \t]/.test(value)) return 'begins with a blank, which HTTP removes';
  return exact !== undefined && /[ \t]$/.test(value) ? 'ends with a blank, which HTTP removes' : undefined;
}

/** Why the same header can't fulfil a condition and others, which are under other spellings of its name. */
function contradiction(condition: HeaderMatch, others: readonly [string, HeaderMatch][]): string | undefined {
  const other = others.find(([, each]) => intersect(each, condition) === 'never');
  if (other === undefined) return undefined;
  const [name, { exact, prefix }] = other;
  const wanted = exact === undefined ? `prefix ${JSON.stringify(prefix)}` : `exact ${JSON.stringify(exact)}`;
  return `contradicts ${wanted} of header ${name}: names of headers are case-insensitive`;
}
