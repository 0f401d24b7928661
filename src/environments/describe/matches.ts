// Conditions of an environment as text: `end-user=alice`, `end-user^=al`, `end-user~=a.*`. Parsed from flags, printed
// in tables, and turned into example calls.
import type { DynamicEnv, StringMatch } from '../../api/dynamicenv.ts';
import { baggageMember } from '../../traffic/baggage.ts';
import type { HttpMatch, HttpRoute } from '../../traffic/istio/objects.ts';
import { isGatewaySource } from '../../traffic/request.ts';
import type { MeshSource, Request } from '../../traffic/request.ts';

const OPERATORS = { exact: '=', prefix: '^=', regex: '~=' } as const;
type Form = keyof typeof OPERATORS;

/** Parses one header condition; undefined if the text is not one. */
export function parseHeader(text: string): { readonly name: string; readonly match: StringMatch } | undefined {
  const [, name, operator, value] = /^([\w!#$%&'*+.`|-]+?)(\^=|~=|=)(.+)$/s.exec(text) ?? [];
  if (name === undefined || operator === undefined || value === undefined) return undefined;
  const form = (Object.keys(OPERATORS) as Form[]).find((each) => OPERATORS[each] === operator)!;
  // Header names are case-insensitive, and Istio requires lower case.
  return { name: name.toLowerCase(), match: { [form]: value } };
}

/** Formats one header condition for `parseHeader`; a key in the baggage is described in words. */
export function formatHeader(name: string, match: StringMatch): string {
  const member = baggageMember(match.regex);
  if (member !== undefined) return `${name} that holds ${member}`;
  const form = formOf(match);
  return form === undefined ? name : `${name}${OPERATORS[form]}${match[form]}`;
}

/** Which requests are for an environment: those with its key, or those that fit one of its matches. */
export function formatRequests({ spec }: Pick<DynamicEnv, 'spec'>): string {
  const { key, istioMatches = [] } = spec ?? {};
  const matches = istioMatches.length > 0 ? [formatMatches(istioMatches)] : [];
  return [...(key ? [`key=${key}`] : []), ...matches].join(' or ');
}

/** All conditions: `,` where both must hold, ` or ` between alternatives. */
export function formatMatches(matches: readonly HttpMatch[]): string {
  return matches
    .map(({ headers = {}, sourceLabels = {}, ...others }) =>
      [
        ...Object.entries(headers).map(([name, match]) => formatHeader(name, match)),
        ...Object.entries(sourceLabels).map(([name, value]) => `source:${name}=${value}`),
        ...Object.entries(others).map(([name, value]) => formatField(name, value)),
      ].join(','),
    )
    .join(' or ');
}

/** Any other condition: `uri prefix /api`, `gateways mesh`. */
function formatField(name: string, value: unknown): string {
  const named = typeof value === 'object' && value !== null ? Object.entries(value as StringMatch) : [];
  if (Array.isArray(value)) return `${name} ${value.join(' ')}`;
  if (named.length === 0) return `${name} ${JSON.stringify(value)}`;
  const isCondition = named.every(([form, each]) => form in OPERATORS && typeof each === 'string');
  if (isCondition) return `${name} ${named.map(([form, each]) => `${form} ${each}`).join(' ')}`;
  return `${name} ${named.map(([key, each]) => formatHeader(key, each as StringMatch)).join(' ')}`;
}

/** A route of a VirtualService: its requests and their destinations. */
export function formatRoute({ match = [], route = [] }: HttpRoute): string {
  const destinations = route.map(({ destination, weight }) => {
    const share = weight === undefined ? '' : ` ${weight}%`;
    return `${destination?.host ?? ''}/${destination?.subset ?? ''}${share}`;
  });
  return `${formatMatches(match)} → ${destinations.join(', ')}`;
}

/** The request of an example call. */
export type CalledRequest = Pick<Request, 'method' | 'path' | 'headers'> & { readonly source: MeshSource };

/** Where an example call is sent. */
export interface Address {
  /** As a word of the shell, without a path. */
  readonly url: string;
  /** What the user has to know to send it. */
  readonly note?: string;
}

/** A command that sends a request, with notes as a comment. */
export function exampleCall({ method, path, headers = {}, source }: Request | CalledRequest, to: Address): string {
  const flags = [
    ...(method === undefined || method === 'GET' ? [] : [`-X ${method}`]),
    ...Object.entries(headers).flatMap(([name, values]) =>
      [values].flat().map((value) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ),
  ];
  const labels = isGatewaySource(source)
    ? []
    : Object.entries(source.labels ?? {}).map(([name, value]) => `${name}=${value}`);
  const notes = [
    ...(labels.length > 0 ? [`from a pod with the labels ${labels.join(',')}`] : []),
    ...(to.note === undefined ? [] : [to.note]),
  ];
  const tail = /^[\w./:@%~-]*$/.test(path) ? path : shellQuoted(path);
  return `${['curl', ...flags, `${to.url}${tail}`].join(' ')}${notes.length > 0 ? `  # ${notes.join('; ')}` : ''}`;
}

/** A value that satisfies a condition, or a description of it. */
export function exampleValue(match: StringMatch): string {
  const member = baggageMember(match.regex);
  if (member !== undefined) return member;
  const form = formOf(match);
  return form === 'regex' ? `<a value that fits ${match.regex}>` : ((form && match[form]) ?? '');
}

function formOf(match: StringMatch): Form | undefined {
  return (Object.keys(OPERATORS) as Form[]).find((form) => match[form]);
}

/** Quotes a text for the shell. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
