// Which DestinationRule a proxy goes by for a service: of those of its own namespace, of the service's and of the mesh's,
// the first kind that has any; several for one host are joined.
import { byAge } from '../istio/precedence.ts';
import type { DestinationRule, RuleSubset } from '../istio/objects.ts';
import type { MeshService, World } from '../world.ts';
import { wildcardsOver } from './hostnames.ts';
import { hasLabels } from './visibility.ts';

type Labels = Readonly<Record<string, string>>;

/** The subsets of a service, as a proxy in a namespace knows them; undefined if there is no rule. */
export function subsetsOf(
  world: World,
  service: MeshService,
  proxy: { readonly namespace: string; readonly labels: Labels },
): readonly RuleSubset[] | undefined {
  const { rootNamespace } = world.settings;
  const { namespace } = proxy;
  const own = namespace === rootNamespace ? (rule: DestinationRule) => isLocal(rule) && isPrivate(rule) : isLocal;
  const isExported = (rule: DestinationRule): boolean => !isPrivate(rule);
  const found =
    rulesIn(world, service.host, namespace, own) ??
    exported(rulesIn(world, service.host, service.namespace, isExported), namespace) ??
    exported(rulesIn(world, service.host, rootNamespace, isExported), namespace);
  return found && chosen(found, proxy)?.subsets;
}

/** Rules that are joined. */
interface Joined {
  readonly exportTo: ReadonlySet<string>;
  readonly selector: Labels | undefined;
  readonly subsets: readonly RuleSubset[];
}

/** The rules of a namespace for the most specific host that has any. */
function rulesIn(
  world: World,
  host: string,
  namespace: string,
  counts: (rule: DestinationRule) => boolean,
): readonly Joined[] | undefined {
  for (const each of [host, ...wildcardsOver(host)]) {
    const rules = world.destinationRules(each).filter((rule) => rule.metadata.namespace === namespace && counts(rule));
    if (rules.length > 0) return join(rules);
  }
  return undefined;
}

function exported(rules: readonly Joined[] | undefined, to: string): readonly Joined[] | undefined {
  const found = rules?.filter(({ exportTo }) => exportTo.size === 0 || exportTo.has('*') || exportTo.has(to));
  return found?.length ? found : undefined;
}

/** Of several, the first whose selector fits the proxy; else the last without one. */
function chosen(rules: readonly Joined[], { labels }: { readonly labels: Labels }): Joined | undefined {
  const selecting = rules.find(({ selector }) => selector !== undefined && hasLabels(labels, selector));
  return selecting ?? rules.findLast(({ selector }) => selector === undefined);
}

/** A rule with a selector is for its own namespace alone. */
function exportOf({ spec }: DestinationRule): ReadonlySet<string> {
  return new Set(spec?.workloadSelector === undefined ? spec?.exportTo : ['.']);
}

/** Whether the pods of its own namespace go by a rule. */
export function isLocal(rule: DestinationRule): boolean {
  const exportTo = exportOf(rule);
  return exportTo.size === 0 || ['*', '.', rule.metadata.namespace ?? ''].some((each) => exportTo.has(each));
}

function isPrivate(rule: DestinationRule): boolean {
  const exportTo = exportOf(rule);
  return exportTo.size === 1 && (exportTo.has('.') || exportTo.has(rule.metadata.namespace ?? ''));
}

/** Those with selectors come first, then the older ones; each adds the subsets that are not there yet. */
function join(rules: readonly DestinationRule[]): readonly Joined[] {
  const isSelecting = ({ spec }: DestinationRule): number => (spec?.workloadSelector === undefined ? 1 : 0);
  const sorted = rules.toSorted((a, b) => isSelecting(a) - isSelecting(b) || byAge(a, b));
  const joined: Joining[] = [];
  for (const rule of sorted) {
    const exportTo = exportOf(rule);
    const selector = rule.spec?.workloadSelector && (rule.spec.workloadSelector.matchLabels ?? {});
    const subsets = rule.spec?.subsets ?? [];
    let isSeparate = true;
    for (const each of joined) {
      const isSame = sameSet(exportTo, each.exportTo);
      const isWider = each.exportTo.size > 0 && [...each.exportTo].every((to) => exportTo.has(to));
      isSeparate = !isSame;
      if (!isSame && !isWider) continue;
      const bothSelect = selector !== undefined && each.selector !== undefined;
      const isSameSelector = sameLabels(selector ?? {}, each.selector ?? {});
      if (bothSelect && !isSameSelector) {
        isSeparate = true;
        continue;
      }
      if (bothSelect || (selector === undefined && each.selector === undefined)) isSeparate = false;
      addSubsets(each, subsets);
    }
    if (isSeparate) joined.push({ exportTo, selector, subsets: [...subsets], names: namesOf(subsets) });
  }
  return joined;
}

/** There may be a rule for each of many environments: names are looked up, not looked for. */
interface Joining extends Joined {
  readonly subsets: RuleSubset[];
  readonly names: Set<string>;
}

function addSubsets({ subsets: known, names }: Joining, subsets: readonly RuleSubset[]): void {
  const added = subsets.filter(({ name }) => !names.has(name));
  known.push(...added);
  for (const { name } of added) names.add(name);
}

function namesOf(subsets: readonly RuleSubset[]): Set<string> {
  return new Set(subsets.map(({ name }) => name));
}

function sameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((each) => b.has(each));
}

function sameLabels(a: Labels, b: Labels): boolean {
  return hasLabels(a, b) && hasLabels(b, a);
}
