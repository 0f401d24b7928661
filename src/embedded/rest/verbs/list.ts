// GET of a collection: selectors, paging at one consistent resource version, and the rules of resourceVersion.
import { forbidden, notSupported } from '../../schema/field-error.ts';
import { Compacted } from '../../store/types.ts';
import type { Stored } from '../../store/types.ts';
import { collectionOf } from '../../registry.ts';
import type { Cluster, Target } from '../context.ts';
import { ensureConverted, servedObject } from '../../conversion/forms.ts';
import { badRequest, expired, Fault, invalidOptions } from '../fault.ts';
import type { ListMeta } from '../wire/represent.ts';
import { versionNumber, wholeNumber } from '../request.ts';
import { selectedName, selectionOf } from './selectors.ts';

interface Page {
  readonly items: readonly Stored[];
  readonly metadata: ListMeta;
}

/** Where a paged list continues. Version -1 continues at the current resource version. */
interface Continuation {
  readonly version: number;
  readonly after: string;
}

/** One page of the target's collection. */
export async function list(cluster: Cluster, target: Target, query: URLSearchParams): Promise<Page> {
  const token = query.get('continue') ?? '';
  if (query.has('sendInitialEvents')) {
    throw invalidOptions('ListOptions', forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  if (token !== '' && (versionNumber(query) ?? 0) !== 0) {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const limit = Math.max(0, wholeNumber(query, 'limit') ?? 0);
  const from = token === '' ? undefined : parseToken(token);
  const at = from === undefined ? requestedVersion(cluster, query, limit) : from.version;
  const { items, version } = objectsAt(cluster, target, query, at, from);
  const selected = selectionOf(target.resource, query);
  // Selectors apply to the objects in the requested API version.
  if (selected !== undefined) await ensureConverted(cluster, items, target.resource);
  return pageOf(items, selected, target, { limit, version, after: from?.after });
}

function objectsAt(
  cluster: Cluster,
  target: Target,
  query: URLSearchParams,
  at: number | undefined,
  from: Continuation | undefined,
): { items: readonly Stored[]; version: number } {
  const { store } = cluster;
  const collection = collectionOf(target.resource);
  const version = at === undefined || at < 0 ? store.version : at;
  const name = selectedName(query);
  if (name !== undefined && at === undefined && (!target.resource.namespaced || target.namespace !== '')) {
    const found = store.get(collection, target.resource.namespaced ? `${target.namespace}/${name}` : name);
    return { items: found === undefined ? [] : [found], version };
  }
  try {
    // A copy: other requests write while the response is encoded.
    return { items: [...store.list(collection, { namespace: target.namespace, at: version })], version };
  } catch (error) {
    if (!(error instanceof Compacted)) throw error;
    throw from === undefined ? expired('The resourceVersion for the provided list is too old.') : expiredToken(from);
  }
}

function pageOf(
  items: readonly Stored[],
  test: ReturnType<typeof selectionOf>,
  target: Target,
  page: { limit: number; version: number; after: string | undefined },
): Page {
  const { limit, version, after } = page;
  const start = after === undefined ? 0 : firstAfter(items, after);
  const resourceVersion = String(version);
  if (test === undefined && limit === 0) {
    return { items: start === 0 ? items : items.slice(start), metadata: { resourceVersion } };
  }
  const chosen: Stored[] = [];
  for (let index = start; index < items.length; index++) {
    const stored = items[index]!;
    // Objects after a full page are not checked: the next page may be empty.
    if (limit > 0 && chosen.length === limit) {
      const next = formatToken({ version, after: chosen.at(-1)!.key });
      const remaining = test === undefined ? { remainingItemCount: items.length - index } : {};
      return { items: chosen, metadata: { resourceVersion, continue: next, ...remaining } };
    }
    if (test === undefined || test(servedObject(stored, target.resource))) chosen.push(stored);
  }
  return { items: chosen, metadata: { resourceVersion } };
}

/** The items are sorted by key. */
function firstAfter(items: readonly Stored[], key: string): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle]!.key > key) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The past resource version that the query requires; undefined for the current one. */
function requestedVersion(cluster: Cluster, query: URLSearchParams, limit: number): number | undefined {
  const version = versionNumber(query);
  const match = query.get('resourceVersionMatch') ?? '';
  const refuse = (text: string): never => {
    throw invalidOptions('ListOptions', forbidden('resourceVersionMatch', text));
  };
  if (match !== '' && version === undefined) {
    return refuse('resourceVersionMatch is forbidden unless resourceVersion is provided');
  }
  if (match === 'Exact' && version === 0) {
    return refuse('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  if (match !== '' && match !== 'Exact' && match !== 'NotOlderThan') {
    throw invalidOptions('ListOptions', notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']));
  }
  if (version === undefined || version === 0) return undefined;
  if (version > cluster.store.version) throw tooNew(version, cluster.store.version);
  return match === 'Exact' || (match === '' && limit > 0) ? version : undefined;
}

/** The requested resource version is in the future. */
export function tooNew(asked: number, current: number): Fault {
  return new Fault(504, 'Timeout', `Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

function expiredToken(from: Continuation): Fault {
  const fault = expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
      'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
      'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
      'deleted between the time the first chunk was returned and now may show up in the list.',
  );
  Object.assign(fault.status.metadata, { continue: formatToken({ version: -1, after: from.after }) });
  return fault;
}

function formatToken({ version, after }: Continuation): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: version, start: after })).toString('base64url');
}

function parseToken(token: string): Continuation {
  try {
    const { rv, start } = JSON.parse(Buffer.from(token, 'base64url').toString()) as { rv: unknown; start: unknown };
    if (Number.isSafeInteger(rv) && typeof start === 'string') return { version: rv as number, after: start };
  } catch {
    // Handled below.
  }
  throw badRequest('continue key is not valid: it must be the token of an earlier list');
}
