// Which DestinationRule a proxy applies to a service. Istio looks in the namespace of the proxy, then in that of the
// service, then in the root namespace, and takes the first with a rule. Several rules for one host are merged.
import { byAge } from '../istio/precedence.ts';
import type { DestinationRule, RuleSubset } from '../istio/objects.ts';
import type { MeshService, World } from '../world.ts';
import { wildcardsOver } from './hostnames.ts';
import { hasLabels } from './visibility.ts';

type Labels = Readonly<Record<string, string>>;

/** The subsets of a service, as a proxy sees them; undefined if there is no rule. */
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

/** DestinationRules for one host, merged. */
interface MergedRule {
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
): readonly MergedRule[] | undefined {
  for (const each of [host, ...wildcardsOver(host)]) {
    const rules = world.destinationRules(each).filter((rule) => rule.metadata.namespace === namespace && counts(rule));
    if (rules.length > 0) return mergeRules(rules);
  }
  return undefined;
}

function exported(rules: readonly MergedRule[] | undefined, to: string): readonly MergedRule[] | undefined {
  const found = rules?.filter(({ exportTo }) => exportTo.size === 0 || exportTo.has('*') || exportTo.has(to));
  return found?.length ? found : undefined;
}

/** The first rule whose selector matches the proxy; else the last one without a selector. */
function chosen(rules: readonly MergedRule[], { labels }: { readonly labels: Labels }): MergedRule | undefined {
  const selecting = rules.find(({ selector }) => selector !== undefined && hasLabels(labels, selector));
  return selecting ?? rules.findLast(({ selector }) => selector === undefined);
}

/** A rule with a workload selector applies only in its own namespace. */
function exportOf({ spec }: DestinationRule): ReadonlySet<string> {
  return new Set(spec?.workloadSelector === undefined ? spec?.exportTo : ['.']);
}

/** Whether a rule applies to the pods of its own namespace. */
export function isLocal(rule: DestinationRule): boolean {
  const exportTo = exportOf(rule);
  return exportTo.size === 0 || ['*', '.', rule.metadata.namespace ?? ''].some((each) => exportTo.has(each));
}

function isPrivate(rule: DestinationRule): boolean {
  const exportTo = exportOf(rule);
  return exportTo.size === 1 && (exportTo.has('.') || exportTo.has(rule.metadata.namespace ?? ''));
}

/** Merges rules: those with selectors first, then by age. Each adds the subsets whose names are still free. */
function mergeRules(rules: readonly DestinationRule[]): readonly MergedRule[] {
  const isSelecting = ({ spec }: DestinationRule): number => (spec?.workloadSelector === undefined ? 1 : 0);
  const sorted = rules.toSorted((a, b) => isSelecting(a) - isSelecting(b) || byAge(a, b));
  const merged: MutableMergedRule[] = [];
  for (const rule of sorted) {
    const exportTo = exportOf(rule);
    const selector = rule.spec?.workloadSelector && (rule.spec.workloadSelector.matchLabels ?? {});
    const subsets = rule.spec?.subsets ?? [];
    let isSeparate = true;
    for (const each of merged) {
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
    if (isSeparate) merged.push({ exportTo, selector, subsets: [...subsets], names: namesOf(subsets) });
  }
  return merged;
}

/** With a rule for each of many environments, a set of names avoids a linear search. */
interface MutableMergedRule extends MergedRule {
  readonly subsets: RuleSubset[];
  readonly names: Set<string>;
}

function addSubsets({ subsets: known, names }: MutableMergedRule, subsets: readonly RuleSubset[]): void {
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
