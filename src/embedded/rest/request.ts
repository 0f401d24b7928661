// Parses the request line: the verb, the resource and the query. Called by handler.ts.
import { badRequest } from './fault.ts';

/** The path of a resource request. Missing parts are empty strings. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly plural: string;
  readonly name: string;
  readonly subresource: string;
}

export interface RequestLine {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Undefined for non-resource paths: discovery, health, documents. */
  readonly resource: ResourcePath | undefined;
}

/** Parses method and URL. Refuses invalid percent-encoding. */
export function parseRequestLine(method: string, url: string): RequestLine {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
  return { method, path, query, resource: parseResourcePath(path) };
}

function parseResourcePath(path: string): ResourcePath | undefined {
  const parts = path.split('/').slice(1);
  if (parts.at(-1) === '') parts.pop();
  if (parts.includes('')) return undefined;
  const core = parts[0] === 'api';
  if (!core && parts[0] !== 'apis') return undefined;
  const rest = parts.slice(core ? 2 : 3).map(decoded);
  if (rest.length === 0) return undefined;
  const [group, version] = core ? ['', decoded(parts[1]!)] : [decoded(parts[1]!), decoded(parts[2]!)];
  if (rest[0] !== 'namespaces' || rest.length < 3 || isNamespaceSubresource(core, rest)) {
    const [plural = '', name = '', ...sub] = rest;
    const namespace = core && plural === 'namespaces' ? name : '';
    return { group, version, namespace, plural, name, subresource: sub.join('/') };
  }
  const [, namespace = '', plural = '', name = '', ...sub] = rest;
  return { group, version, namespace, plural, name, subresource: sub.join('/') };
}

function isNamespaceSubresource(core: boolean, rest: readonly string[]): boolean {
  return core && rest.length === 3 && (rest[2] === 'status' || rest[2] === 'finalize');
}

function decoded(part: string): string {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    throw badRequest(`the path holds a broken escape: ${part}`);
  }
}

/** The verb of a request in authorization: get, list, watch, create and so on. */
export function verbOf(line: RequestLine): string {
  const named = line.resource !== undefined && line.resource.name !== '';
  switch (line.method) {
    case 'GET':
    case 'HEAD':
      if (line.resource === undefined || named) return 'get';
      return flag(line.query, 'watch') ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return named ? 'delete' : 'deletecollection';
    default:
      return line.method.toLowerCase();
  }
}

/** A boolean of the query: everything but empty, 0 and false is true. */
export function flag(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  return text !== null && text !== '' && !/^(0|false)$/i.test(text);
}

/** A whole number of the query; undefined when it is missing. */
export function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^-?\d{1,15}$/.test(text)) throw badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  // No resource version comes close to this.
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}

/** The resourceVersion of the query; undefined when it is missing. */
export function versionNumber(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion');
  if (text === null || text === '') return undefined;
  if (!/^\d{1,19}$/.test(text)) {
    const why = `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`;
    throw badRequest(`invalid resource version: ${why}`);
  }
  return Number(text);
}
