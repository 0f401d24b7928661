// Merges the routes of a root VirtualService with those of its delegates, as istiod does.
import type { HeaderMatch, HttpMatch, HttpRoute } from './objects.ts';

/** A route, and the delegate that it is from. */
export interface MergedRoute {
  readonly route: HttpRoute;
  /** `NAMESPACE/NAME`. */
  readonly delegate?: string;
  /** The index in the VirtualService or delegate that it is from. */
  readonly index: number;
}

/** Finds the delegate that a route names: its key and routes; undefined if the root has no such delegate. */
export type FindDelegate = (
  delegate: NonNullable<HttpRoute['delegate']>,
) => { readonly key: string; readonly http: readonly HttpRoute[] } | undefined;

/** The merged routes of a root. Missing delegates, and routes that conflict with the root, are left out. */
export function withDelegates(http: readonly HttpRoute[], find: FindDelegate): readonly MergedRoute[] {
  return http.flatMap((root, at): readonly MergedRoute[] => {
    if (root.delegate === undefined) return [{ route: root, index: at }];
    const found = find(root.delegate);
    return (found?.http ?? []).flatMap((leaf, index) => {
      const match = mergeMatches(root.match ?? [], leaf.match ?? []);
      return match === undefined ? [] : [{ route: mergeRoute(root, { ...leaf, match }), index, delegate: found!.key }];
    });
  });
}

/** The fields that a route of a delegate inherits from its root if it does not set them. */
const INHERITED = [
  'rewrite',
  'directResponse',
  'timeout',
  'retries',
  'fault',
  'mirror',
  'mirrorPercent',
  'mirrorPercentage',
  'corsPolicy',
  'mirrors',
  'headers',
] as const;

function mergeRoute(root: HttpRoute, leaf: HttpRoute): HttpRoute {
  const inherited = INHERITED.filter((field) => root[field] !== undefined).map((field) => [field, root[field]]);
  return { ...Object.fromEntries(inherited), ...leaf, ...mergeNames(root, leaf) };
}

function mergeNames(root: { readonly name?: string }, leaf: { readonly name?: string }): { readonly name?: string } {
  const name = [root.name, leaf.name].filter(Boolean).join('-');
  return name === '' ? {} : { name };
}

/** Each entry of the delegate must agree with an entry of the root; the result has one entry for each such pair. */
function mergeMatches(roots: readonly HttpMatch[], leaves: readonly HttpMatch[]): readonly HttpMatch[] | undefined {
  if (roots.length === 0) return leaves;
  if (leaves.length === 0) return roots;
  const pairs = leaves.map((leaf) => roots.filter((root) => agree(root, leaf)).map((root) => merge(root, leaf)));
  return pairs.some((each) => each.length === 0) ? undefined : pairs.flat();
}

function merge(root: HttpMatch, leaf: HttpMatch): HttpMatch {
  return {
    ...root,
    ...leaf,
    ...mergeNames(root, leaf),
    headers: { ...root.headers, ...leaf.headers },
    withoutHeaders: { ...root.withoutHeaders, ...leaf.withoutHeaders },
    queryParams: { ...root.queryParams, ...leaf.queryParams },
    sourceLabels: { ...root.sourceLabels, ...leaf.sourceLabels },
    gateways: (leaf.gateways?.length ? leaf.gateways : root.gateways) ?? [],
  };
}

/** The conflict because of which istiod drops a route of a delegate; undefined if it keeps the route. */
export function conflictOf(root: HttpRoute, leaf: HttpRoute): string | undefined {
  const [roots, leaves] = [root.match ?? [], leaf.match ?? []];
  const lost = roots.length === 0 ? undefined : leaves.find((each) => !roots.some((above) => agree(above, each)));
  return lost && disagreement(roots[0]!, lost);
}

function agree(root: HttpMatch, leaf: HttpMatch): boolean {
  return disagreement(root, leaf) === undefined;
}

/** The field in which a match entry of a root and one of its delegate conflict. */
function disagreement(root: HttpMatch, leaf: HttpMatch): string | undefined {
  const named = { headers: 'header', withoutHeaders: 'the absence of header', queryParams: 'query parameter' } as const;
  for (const field of ['uri', 'scheme', 'method', 'authority'] as const) {
    if (!agreeOn(root[field], leaf[field])) return field;
  }
  for (const field of ['headers', 'withoutHeaders', 'queryParams'] as const) {
    const found = Object.entries(leaf[field] ?? {}).find(([name, match]) => !agreeOn(root[field]?.[name], match));
    if (found) return `${named[field]} ${found[0]}`;
  }
  if ((root.ignoreUriCase ?? false) !== (leaf.ignoreUriCase ?? false)) return 'ignoreUriCase';
  if (root.port && leaf.port && root.port !== leaf.port) return 'port';
  if (root.sourceNamespace && root.sourceNamespace !== leaf.sourceNamespace) return 'sourceNamespace';
  const labels = Object.entries(leaf.sourceLabels ?? {});
  const label = labels.find(([name, value]) => (root.sourceLabels?.[name] ?? value) !== value);
  if (label) return `source label ${label[0]}`;
  const isWithin = !root.gateways?.length || (leaf.gateways ?? []).every((each) => root.gateways!.includes(each));
  return isWithin ? undefined : 'gateways';
}

/** Whether the root's condition covers the delegate's. Like istiod, this does not analyze regular expressions. */
function agreeOn(root: HeaderMatch | undefined, leaf: HeaderMatch | undefined): boolean {
  if (root === undefined || leaf === undefined) return true;
  if (root.regex && (leaf.regex || leaf.prefix || leaf.exact)) return false;
  if (leaf.regex && (root.prefix || root.exact)) return false;
  if (root.exact) return !leaf.prefix && leaf.exact === root.exact;
  return (
    Boolean(root.prefix) && Boolean(leaf.prefix || leaf.exact) && (leaf.prefix || leaf.exact)!.startsWith(root.prefix!)
  );
}
