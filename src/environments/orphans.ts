// What environments left behind that are gone without a word: somebody took their finalizers off while no controller ran.
// Pure. The metric, the chore that removes them and the command line read the same list.
import { DynamicEnv } from '../api/dynamicenv.ts';
import type { Facts } from '../controller/index.ts';
import { edit, keyOf, refOf, removeUnchanged } from '../kube/index.ts';
import type { AnyKind, KubeObject, Step } from '../kube/index.ts';
import { environmentsOf, isApplied, isWritten } from './ownership.ts';
import { isInserted, isRouteOf } from '../traffic/istio/inserted-routes.ts';
import { MARKER_LABEL, uniqueVersion } from './names.ts';
import { Deployment } from './objects.ts';
import { DestinationRule, VirtualService } from '../traffic/istio/objects.ts';
import type { Settings } from './settings.ts';
import { editService } from './routes/edit.ts';
import { Environments, VirtualServices } from './tables.ts';

/** An object that stands for an environment, or has routes to one, which is not there. */
export interface Orphan {
  readonly kind: AnyKind;
  readonly object: KubeObject;
  /** `namespace/name` of the environment; empty where nothing says it. */
  readonly environment: string;
  /** Why it may be somebody else's. Without a doubt it is ours to remove. */
  readonly doubt?: string;
}

type Judge = (version: string) => string | undefined;

/** The kinds of which environments may leave something behind. */
export const ORPHAN_KINDS: readonly AnyKind[] = [VirtualService, DestinationRule, Deployment];

/** All orphans, as far as the tables tell. */
export function findOrphans(facts: Facts, settings: Settings): readonly Orphan[] {
  // Of environments that can't be listed nothing is known.
  if (!facts.served(DynamicEnv)) return [];
  return ORPHAN_KINDS.flatMap((kind) =>
    facts.list<KubeObject>(kind).flatMap((object) => orphansIn(facts, kind, object, settings)),
  );
}

/** What an object is an orphan of: one environment, or several that had routes in a VirtualService; none as a rule. */
export function orphansIn(facts: Facts, kind: AnyKind, object: KubeObject, settings: Settings): readonly Orphan[] {
  const { versionLabel } = settings;
  if (kind.kind === VirtualService.kind) return orphanedRoutes(facts, object, settings);
  const { labels = {}, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) return [];
  const named = environmentsOf(object);
  if (named.some((key) => isThere(facts, key, settings))) return [];
  const [environment, ...others] = named;
  if (environment === undefined) {
    const isLost = isApplied(object) && !hasVersion(facts, labels[versionLabel] ?? '');
    return isLost ? [{ kind, object, environment: '', doubt: 'no annotation says what it was made for' }] : [];
  }
  return [
    judged(facts, { kind, object, environment }, (version) => {
      if (others.length > 0) return 'its annotation names several environments';
      if (!isApplied(object)) return 'Offshoot has not applied it';
      if (labels[versionLabel] !== version) return `its label ${versionLabel} is not "${version}"`;
      return kind.kind === Deployment.kind ? cloneDoubt(object, version) : ruleDoubt(object, version);
    }),
  ];
}

function ruleDoubt({ metadata }: KubeObject, version: string): string | undefined {
  return metadata.name.includes(`-${version}-`) ? undefined : `its name has no "-${version}-"`;
}

function cloneDoubt({ metadata }: KubeObject, version: string): string | undefined {
  if (!metadata.name.endsWith(`-${version}`)) return `its name does not end in "-${version}"`;
  return metadata.labels?.[MARKER_LABEL] === 'true' ? undefined : `it has no label ${MARKER_LABEL}=true`;
}

/** Routes in a VirtualService to environments that are gone. */
function orphanedRoutes(facts: Facts, service: VirtualService, settings: Settings): readonly Orphan[] {
  const http = service.spec?.http ?? [];
  const gone = environmentsOf(service).filter((key) => !isThere(facts, key, settings));
  const named = gone.map((environment) =>
    judged(facts, { kind: VirtualService, object: service, environment }, (version) => {
      const routes = http.filter((route) => isRouteOf({ version, taken: [] }, service, route));
      const subsets = routes.flatMap(({ route = [] }) => route.map(({ destination }) => destination?.subset));
      if (routes.length === 0) return 'it has no route to that environment';
      if (subsets.some((subset) => subset !== version)) return 'a route named after that environment leads elsewhere';
      return isWritten(service) ? undefined : 'Offshoot has not written it';
    }),
  );
  const versions = new Set(environmentsOf(service).map((key) => uniqueVersion(refOf(key))));
  const nameless = http.filter(
    (route) =>
      isInserted(route) &&
      (route.route ?? []).every(
        ({ destination: { subset = '' } = {} }) => !versions.has(subset) && !hasVersion(facts, subset),
      ),
  );
  const doubt = `its annotation does not say which environment the route ${nameless[0]?.name} is for`;
  return nameless.length === 0 ? named : [...named, { kind: VirtualService, object: service, environment: '', doubt }];
}

/** An orphan with what speaks against removing it. */
function judged(facts: Facts, orphan: Orphan, judge: Judge): Orphan {
  const version = uniqueVersion(refOf(orphan.environment));
  const { namespace, labelSelector, fieldSelector } = Environments.table;
  const doubt =
    (namespace ?? labelSelector ?? fieldSelector) !== undefined
      ? 'not all environments in the cluster are known'
      : hasVersion(facts, version)
        ? `another environment has the version "${version}"`
        : judge(version);
  return { ...orphan, ...(doubt !== undefined && { doubt }) };
}

/** Of an environment in a namespace that nobody manages here, it can't be said that it is gone. */
function isThere(facts: Facts, environment: string, { namespaces }: Settings): boolean {
  const ref = refOf(environment);
  const isUnseen = namespaces !== undefined && !namespaces.includes(ref.namespace ?? '');
  return isUnseen || facts.get(DynamicEnv, ref) !== undefined;
}

/** Whether there is an environment with this version. */
function hasVersion(facts: Facts, version: string): boolean {
  return facts.index(Environments, 'version', version).length > 0;
}

/** `Deployment shop/cart-shop-feature`, for people. */
export function describeOrphan({ kind, object }: Orphan): string {
  return `${kind.kind} ${keyOf(object.metadata)}`;
}

/** What removes an orphan that is ours beyond doubt; undefined while requests may still be led to it. */
export function removalOf(facts: Facts, { kind, object, environment }: Orphan): Step | undefined {
  const version = uniqueVersion(refOf(environment));
  if (kind.kind === VirtualService.kind) {
    const service = object as VirtualService;
    const wish = { environment, owner: { version, taken: [] }, matches: [], insertions: [], untouched: [] };
    return edit(VirtualService, service, editService(service, [wish]).service);
  }
  const isReached = facts.index(VirtualServices, 'environment', `version ${version}`).length > 0;
  return isReached ? undefined : removeUnchanged(kind, object);
}
