// Orphans: objects of environments that are gone without a cleanup, because their finalizers were removed by hand.
// Pure. The metric, the chore that removes them and the command line use the same list.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Facts } from '../../controller/index.ts';
import { edit, keyOf, refOf, removeUnchanged } from '../../kube/index.ts';
import type { AnyKind, KubeObject, Step } from '../../kube/index.ts';
import { environmentsOf, isApplied, isWritten } from '../identity/ownership.ts';
import { isInserted, isRouteOf } from '../../traffic/istio/inserted-routes.ts';
import { MARKER_LABEL, uniqueVersion } from '../names.ts';
import { Deployment } from '../objects.ts';
import { DestinationRule, VirtualService } from '../../traffic/istio/objects.ts';
import type { Settings } from '../settings.ts';
import { editService } from '../routes/edit.ts';
import { Environments, VirtualServices } from '../tables.ts';

/** An object that was made for an environment, or has routes to one, that no longer exists. */
export interface Orphan {
  readonly kind: AnyKind;
  readonly object: KubeObject;
  /** `namespace/name` of the environment; empty if it is not known. */
  readonly environment: string;
  /** Why it may belong to somebody else. Without a doubt we may remove it. */
  readonly doubt?: string;
}

type DoubtCheck = (version: string) => string | undefined;

/** The kinds of objects that environments may leave behind. */
export const ORPHAN_KINDS: readonly AnyKind[] = [VirtualService, DestinationRule, Deployment];

/** All orphans in the tables. */
export function findOrphans(facts: Facts, settings: Settings): readonly Orphan[] {
  // Without a list of environments, nothing is known.
  if (!facts.served(DynamicEnv)) return [];
  return ORPHAN_KINDS.flatMap((kind) =>
    facts.list<KubeObject>(kind).flatMap((object) => orphansIn(facts, kind, object, settings)),
  );
}

/** The environments that an object is an orphan of: normally none; several for a VirtualService with their routes. */
export function orphansIn(facts: Facts, kind: AnyKind, object: KubeObject, settings: Settings): readonly Orphan[] {
  const { versionLabel } = settings;
  if (kind.kind === VirtualService.kind) return orphanedRoutes(facts, object, settings);
  const { labels = {}, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) return [];
  const named = environmentsOf(object);
  if (named.some((key) => mayExist(facts, key, settings))) return [];
  const [environment, ...others] = named;
  if (environment === undefined) {
    const isLost = isApplied(object) && !hasVersion(facts, labels[versionLabel] ?? '');
    return isLost ? [{ kind, object, environment: '', doubt: 'no annotation says what it was made for' }] : [];
  }
  return [
    withDoubt(facts, { kind, object, environment }, settings, (version) => {
      if (others.length > 0) return 'its annotation names several environments';
      if (!isApplied(object)) return 'its managedFields do not say that Offshoot applied it';
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
  const gone = environmentsOf(service).filter((key) => !mayExist(facts, key, settings));
  const named = gone.map((environment) =>
    withDoubt(facts, { kind: VirtualService, object: service, environment }, settings, (version) => {
      const routes = http.filter((route) => isRouteOf({ version, taken: [] }, service, route));
      const subsets = routes.flatMap(({ route = [] }) => route.map(({ destination }) => destination?.subset));
      if (routes.length === 0) return 'it has no route to that environment';
      if (subsets.some((subset) => subset !== version)) return 'a route named after that environment leads elsewhere';
      return isWritten(service) ? undefined : 'its managedFields do not say that Offshoot wrote it';
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

/** An orphan with the doubt about removing it, if any. */
function withDoubt(facts: Facts, orphan: Orphan, { namespaces }: Settings, doubtOf: DoubtCheck): Orphan {
  const version = uniqueVersion(refOf(orphan.environment));
  const doubt =
    namespaces !== undefined
      ? 'not all environments in the cluster are known'
      : hasVersion(facts, version)
        ? `another environment has the version "${version}"`
        : doubtOf(version);
  return { ...orphan, ...(doubt !== undefined && { doubt }) };
}

/** Whether an environment exists, or may exist in a namespace that is not watched. */
function mayExist(facts: Facts, environment: string, { namespaces }: Settings): boolean {
  const ref = refOf(environment);
  const isUnseen = namespaces !== undefined && !namespaces.includes(ref.namespace ?? '');
  return isUnseen || facts.get(DynamicEnv, ref) !== undefined;
}

/** Whether an environment with this version exists. */
function hasVersion(facts: Facts, version: string): boolean {
  return facts.index(Environments, 'version', version).length > 0;
}

/** `Deployment shop/cart-shop-feature`, for people. */
export function describeOrphan({ kind, object }: Orphan): string {
  return `${kind.kind} ${keyOf(object.metadata)}`;
}

/** The step that removes an orphan that is certainly ours; undefined while routes lead to it. */
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
