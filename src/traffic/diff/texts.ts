// The parts of the sentences in a traffic diff: which requests, where they go, and where they went before.
import { baggageMember } from '../baggage.ts';
import { jsonEqual } from '../../watchable/index.ts';
import type { Decision, Routed } from '../decide.ts';
import { RESPONSE_HEADER } from '../istio/insert-routes.ts';
import type { HeaderMatch } from '../istio/objects.ts';
import type { HostScope } from '../prove/scopes.ts';
import type { Condition, Literal } from '../prove/literals.ts';
import { isGatewaySource } from '../request.ts';
import type { Destination, HeaderCondition } from '../rules.ts';
import type { MeshSettings } from '../world.ts';

type Domain = Pick<MeshSettings, 'clusterDomain'>;

/** A service as people write it: `reviews.shop`. */
function shortHost(host: string, { clusterDomain }: Domain): string {
  const suffix = `.svc.${clusterDomain}`;
  return host.endsWith(suffix) ? host.slice(0, -suffix.length) : host;
}

/** Where requests are sent: `reviews.shop:9080`, and the gateway that they enter through. */
export function scopeText({ host, port, source }: HostScope, settings: Domain): string {
  const address = `${shortHost(host, settings)}:${port}`;
  return isGatewaySource(source) ? `${address} at gateway ${source.gateway}` : address;
}

/** Which requests: ` from namespace web with x-env: pr-7`. An empty list of namespaces means all of them. */
export function requestsText(literals: readonly Literal[], namespaces: readonly string[] = []): string {
  const all = new Map(literals.map(({ condition }) => [JSON.stringify(condition), condition]));
  const labels = [...all.values()].flatMap((each) => (each.on === 'label' ? [`${each.name}=${each.value}`] : []));
  const others = [...all.values()].filter(({ on }) => on !== 'label').map(conditionText);
  const where = namespaces.length === 0 ? '' : `namespace${namespaces.length > 1 ? 's' : ''} ${listed(namespaces)}`;
  const from = labels.length === 0 ? where : `pods with ${labels.join(', ')}${where === '' ? '' : ` in ${where}`}`;
  return `${from === '' ? '' : ` from ${from}`}${others.length === 0 ? '' : ` with ${listed(others)}`}`;
}

const MAX_EXCEPTIONS = 3;

/** The requests that a sentence does not apply to: `, except those with x-env: pr-7,`. */
export function exceptionsText(exceptions: readonly (readonly Literal[])[]): string {
  const texts = [...new Set(exceptions.map((each) => requestsText(each).trim()))];
  if (texts.length === 0) return '';
  const more = texts.length - MAX_EXCEPTIONS;
  const shown = more > 0 ? [...texts.slice(0, MAX_EXCEPTIONS), `${more} more`] : texts;
  return `, except those ${shown.join(' or ')},`;
}

/** `a, b and c`. */
function listed(texts: readonly string[]): string {
  return texts.length === 1 ? texts[0]! : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;
}

function conditionText(condition: Condition): string {
  switch (condition.on) {
    case 'label':
      return `the label ${condition.name}=${condition.value}`;
    case 'path': {
      const { value, ignoreCase } = condition.required;
      const article = value.exact === undefined ? 'a' : 'the';
      return `${article} path ${formText(value)}${ignoreCase ? ' in any case' : ''}`;
    }
    case 'header':
      return headerText(condition.required);
    case 'query': {
      const { name, value } = condition.required;
      return `the query parameter ${name}${isPresence(value) ? '' : ` ${formText(value)}`}`;
    }
  }
}

function headerText({ name, value, negated }: HeaderCondition): string {
  const what = name.startsWith(':') ? `${value.exact === undefined ? 'a' : 'the'} ${name.slice(1)}` : name;
  if (isPresence(value)) return negated ? `no header ${what}` : `the header ${what}`;
  const is =
    value.exact !== undefined && !name.startsWith(':') ? `${what}: ${value.exact}` : `${what} ${formText(value)}`;
  return negated ? `no ${is}` : is;
}

function isPresence({ exact, prefix, regex }: HeaderMatch): boolean {
  return exact === undefined && prefix === undefined && regex === undefined;
}

function formText({ exact, prefix, regex }: HeaderMatch): string {
  if (exact !== undefined) return exact;
  const member = baggageMember(regex);
  if (member !== undefined) return `that holds ${member}`;
  return prefix === undefined ? `that matches ${regex}` : `that starts with ${prefix}`;
}

/** The change of a decision: `go to reviews version a instead of version b`; undefined if nothing changed. */
export function changeText(before: Decision, after: Decision, host: string, settings: Domain): string | undefined {
  if (before.kind !== 'route' || after.kind !== 'route') {
    const [was, is] = [before, after].map((each) => outcomeText(each, host, settings));
    return was === is ? undefined : `${is}; now they ${was}`;
  }
  const [was, is] = [before, after].map((each) => targetsText(each, host, settings));
  if (was !== is) return `go to ${is} instead of ${withoutSameName(was!, is!)}`;
  const [some, others] = [before, after].map(workloadsOf);
  if (some !== others) return `go to ${is}: ${others || 'nobody'}, instead of ${some || 'nobody'}`;
  const fields = differing(before, after);
  return fields.length === 0 ? undefined : `go to ${is} as before, with another ${fields.join(' and ')}`;
}

function outcomeText(decision: Decision, host: string, settings: Domain): string {
  switch (decision.kind) {
    case 'route':
      return `go to ${targetsText(decision, host, settings)}`;
    case 'redirect':
      return `are redirected with ${decision.status} to ${decision.location}`;
    case 'response': {
      const { status, reason } = decision;
      if (status === 0) return 'get no connection';
      return `are answered with ${status}${reason === 'NoRoute' ? ', as no route takes them' : ''}`;
    }
    case 'passthrough':
      return 'pass through to where they are addressed';
  }
}

const LOST = {
  UnknownHost: '503: there is no such host',
  MissingSubset: '503: no DestinationRule has it',
  NoEndpoints: '503: no pod of it is ready',
} as const;

function targetsText({ destinations }: Routed, host: string, settings: Domain): string {
  return destinations.map((each) => targetText(each, destinations.length, host, settings)).join(' and ');
}

function targetText(each: Destination, count: number, called: string, settings: Domain): string {
  const { host, subset, weight, outcome } = each;
  const short = shortHost(host, settings);
  // A service that is called by its own name is shortened to the first part of the name.
  const name = host === called && short !== host ? short.split('.')[0]! : short;
  const remarks = [
    ...(count > 1 ? [`${Math.round(weight)} %`] : []),
    ...(outcome === 'Reached' || outcome === 'External' ? [] : [LOST[outcome]]),
  ];
  const version = subset === undefined ? '' : ` version ${subset}`;
  return `${name}${version}${remarks.length === 0 ? '' : ` (${remarks.join(', ')})`}`;
}

/** Another version of the same service is named without repeating the service. */
function withoutSameName(was: string, is: string): string {
  const [name] = is.split(' version ');
  const isPlain = !was.includes(' and ') && !is.includes(' and ');
  return isPlain && was.startsWith(`${name} version `) ? was.slice(name!.length + 1) : was;
}

function workloadsOf({ destinations }: Routed): string {
  return [...new Set(destinations.flatMap(({ workloads }) => workloads))].sort().join(', ');
}

/** The other fields in which two routes differ. */
function differing(before: Routed, after: Routed): string[] {
  const headers = ({ destinations }: Routed) =>
    destinations.map(({ requestHeaders, responseHeaders, authority }) => ({
      requestHeaders,
      responseHeaders: responseHeaders.filter(({ name }) => name !== RESPONSE_HEADER),
      authority,
    }));
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['path', before.path, after.path],
    ['timeout', before.timeout, after.timeout],
    ['number of retries', before.retries, after.retries],
    ['fault', before.fault, after.fault],
    ['mirror', before.mirrors, after.mirrors],
    ['treatment of headers', headers(before), headers(after)],
  ];
  return pairs.filter(([, one, other]) => !jsonEqual(one, other)).map(([name]) => name);
}
