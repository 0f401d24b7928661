// Parses a request from the fields of a JSON line, or from flags.
import { forwardedPort, isGatewaySource, isLoopback } from '../../traffic/index.ts';
import type { Expectation, GatewayPorts, MeshSource, Request, Source } from '../../traffic/index.ts';
import { closestNames } from '../objects/closest-names.ts';

/** The callers and gateways that a request may refer to. */
export interface RequestContext {
  readonly callers: ReadonlyMap<string, MeshSource>;
  /** By `NAMESPACE/NAME`. */
  readonly gateways: ReadonlyMap<string, GatewayPorts>;
  /** The namespace of callers without a given one. */
  readonly namespace: string;
}

export interface ParsedRequest {
  readonly request: Request;
  /** `GET http://reviews.shop:9080/ from shop/productpage`. */
  readonly title: string;
  readonly expect?: Expectation;
}

/** An invalid field. */
export class InvalidField extends Error {
  override readonly name = 'InvalidField';
  readonly field: string;

  constructor(field: string, problem: string) {
    super(problem);
    this.field = field;
  }
}

const FIELDS = ['method', 'url', 'headers', 'from', 'gateway', 'expect'];
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** Parses a request; throws an InvalidField. */
export function readRequest(value: unknown, context: RequestContext): ParsedRequest {
  const fields = objectAt('', value, FIELDS);
  const method = fields['method'] === undefined ? 'GET' : textAt('method', fields['method']);
  if (!TOKEN.test(method)) throw new InvalidField('method', `${JSON.stringify(method)} is no method such as GET`);
  if (fields['url'] === undefined) throw new InvalidField('url', 'it is missing: give one such as http://reviews.shop');
  const url = textAt('url', fields['url']);
  const { host: own, ...headers } = readHeaders(fields['headers'] ?? {});
  const address = readUrl(url);
  const host = own === undefined ? address.host : (own[0] ?? '');
  const local = isLoopback(address.host);
  const { source, title } = readSource(fields, context, local);
  const ports = local && isGatewaySource(source) ? context.gateways.get(source.gateway) : undefined;
  const port = ports === undefined ? address.port : forwardedPort(ports, address.scheme, address.port);
  return {
    request: { ...address, host, port, method, headers, source },
    title: `${method} ${url} ${title}${port === address.port ? '' : `, port ${port}`}`,
    ...(fields['expect'] !== undefined && { expect: readExpectation(fields['expect']) }),
  };
}

/** Host, port and path are kept as written: the routing model normalises them like a proxy. */
function readUrl(url: string): Pick<Request, 'host' | 'port' | 'path'> & { readonly scheme: string } {
  const [, scheme = '', name = '', port = '', rest = ''] =
    /^(https?):\/\/([\w.-]+)(?::(\d{1,5}))?((?:[/?][^\s#]*)?)(?:#.*)?$/i.exec(url) ?? [];
  if (name === '') {
    throw new InvalidField('url', `${JSON.stringify(url)} is no address such as http://reviews.shop:9080/api`);
  }
  const defaultPort = scheme.toLowerCase() === 'https' ? 443 : 80;
  const number = port === '' ? defaultPort : Number(port);
  if (number < 1 || number > 65_535) throw new InvalidField('url', `port ${port} is not one from 1 to 65535`);
  return {
    scheme: scheme.toLowerCase(),
    // Callers omit the default port.
    host: number === defaultPort ? name : `${name}:${number}`,
    port: number,
    path: rest.startsWith('/') ? rest : `/${rest}`,
  };
}

function readHeaders(value: unknown): Record<string, readonly string[]> {
  const headers = new Map<string, readonly string[]>();
  for (const [name, given] of Object.entries(objectAt('headers', value))) {
    const field = `headers.${name}`;
    if (!TOKEN.test(name)) throw new InvalidField('headers', `${JSON.stringify(name)} is not a header name`);
    const values = Array.isArray(given)
      ? given.map((each, i) => textAt(`${field}[${i}]`, each))
      : [textAt(field, given)];
    headers.set(name.toLowerCase(), [...(headers.get(name.toLowerCase()) ?? []), ...values]);
  }
  return Object.fromEntries(headers);
}

/** The caller, and its text for titles. Requests to loopback can only come through a gateway. */
function readSource(
  { from, gateway }: Readonly<Record<string, unknown>>,
  { callers, gateways, namespace }: RequestContext,
  local: boolean,
): { readonly source: Source; readonly title: string } {
  if (gateway !== undefined) {
    if (from !== undefined) throw new InvalidField('gateway', 'a request with "from" does not come in by a gateway');
    const key = textAt('gateway', gateway);
    if (!gateways.has(key)) throw unknown('gateway', 'Gateway', key, [...gateways.keys()]);
    return { source: { gateway: key }, title: `at gateway ${key}` };
  }
  if (from === undefined && local && gateways.size > 0) {
    const [key, ...others] = gateways.keys();
    if (others.length === 0) return { source: { gateway: key! }, title: `at gateway ${key}` };
    const choice = [...gateways.keys()].sort().join(', ');
    throw new InvalidField('gateway', `it is missing, for a request to this machine comes in by one: ${choice}`);
  }
  if (from === undefined) return { source: { namespace, labels: {} }, title: `from namespace ${namespace}` };
  if (typeof from === 'string') {
    const source = callers.get(from);
    if (source === undefined) throw unknown('from', 'workload', from, [...callers.keys()]);
    return { source, title: `from ${from}` };
  }
  const caller = objectAt('from', from, ['namespace', 'labels']);
  const own = caller['namespace'] === undefined ? namespace : textAt('from.namespace', caller['namespace']);
  const labels = Object.entries(objectAt('from.labels', caller['labels'] ?? {})).map(
    ([name, value]) => [name, textAt(`from.labels.${name}`, value)] as const,
  );
  const listed = labels.map((each) => each.join('=')).join(',');
  return {
    source: { namespace: own, labels: Object.fromEntries(labels) },
    title: `from namespace ${own}${listed === '' ? '' : ` (${listed})`}`,
  };
}

function unknown(field: string, what: string, key: string, all: readonly string[]): InvalidField {
  const close = closestNames(key, all);
  const hint = close.length > 0 ? `did you mean ${close.join(' or ')}?` : 'it is written NAMESPACE/NAME';
  return new InvalidField(field, `there is no ${what} ${key}; ${hint}`);
}

function readExpectation(value: unknown): Expectation {
  const { workload, subset, status } = objectAt('expect', value, ['workload', 'subset', 'status']);
  if (status !== undefined && status !== null && !Number.isInteger(status)) {
    throw new InvalidField('expect.status', `${JSON.stringify(status)} is no status such as 503`);
  }
  return {
    ...(workload !== undefined && { workload: textAt('expect.workload', workload) }),
    ...(subset !== undefined && { subset: textAt('expect.subset', subset) }),
    ...(status !== undefined && { status: status as number | null }),
  };
}

function textAt(field: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw new InvalidField(field, `${JSON.stringify(value)} is not a string`);
}

/** Checks that a value is an object without unknown fields. */
function objectAt(field: string, value: unknown, known?: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidField(field, `${JSON.stringify(value)} is not an object`);
  }
  const other = known === undefined ? undefined : Object.keys(value).find((key) => !known.includes(key));
  if (other === undefined) return value as Readonly<Record<string, unknown>>;
  const at = field === '' ? other : `${field}.${other}`;
  throw new InvalidField(at, `there is no such field; those there are: ${known!.join(', ')}`);
}
