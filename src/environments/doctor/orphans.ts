// Orphans: what environments left behind that are gone. The controllers remove those that are certainly theirs; the
// others are for people to decide about.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Facts } from '../../controller/index.ts';
import { keyOf, refOf } from '../../kube/index.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import { findOrphans } from '../orphans/orphans.ts';
import type { Orphan } from '../orphans/orphans.ts';
import { WATCH_ANNOTATION } from '../identity/ownership.ts';
import type { Settings } from '../settings.ts';
import type { Finding } from './finding.ts';

export interface OrphanScope {
  readonly isSelected: (namespace?: string) => boolean;
  /** Whether all environments of the cluster are known: manifests may lack some. */
  readonly isCluster: boolean;
}

/** Clones, rules and routes of environments that do not exist, in the selected namespaces or of environments there. */
export function orphanFindings(view: Facts, settings: Settings, { isSelected, isCluster }: OrphanScope): Finding[] {
  return (isCluster ? findOrphans(view, settings) : missingIn(view, settings))
    .filter(
      ({ object, environment }) =>
        isSelected(object.metadata.namespace) || (environment !== '' && isSelected(refOf(environment).namespace)),
    )
    .map((orphan) => ({
      kind: orphan.kind.kind,
      object: keyOf(orphan.object.metadata),
      ...(isCluster && orphan.doubt === undefined
        ? { severity: 'warning', reason: 'Orphaned', ...certain(orphan, settings) }
        : { severity: 'note', reason: 'MayBeOrphaned', message: doubtful(orphan, isCluster), advice: decide(orphan) }),
    }));
}

/**
 * Manifests say nothing about environments of a namespace of which they contain none: people write the objects of a
 * shop without them, or save only one namespace.
 */
function missingIn(view: Facts, settings: Settings): readonly Orphan[] {
  const namespaces = new Set(view.list(DynamicEnv).map(({ metadata }) => metadata.namespace ?? ''));
  return findOrphans(view, settings).filter(
    ({ environment }) => environment !== '' && namespaces.has(refOf(environment).namespace ?? ''),
  );
}

function certain({ kind, environment }: Orphan, { orphanGraceMs }: Settings): Pick<Finding, 'message' | 'advice'> {
  const hasRoutes = kind.kind === VirtualService.kind;
  const it = hasRoutes ? 'them' : 'it';
  const minutes = Math.round(orphanGraceMs / 60_000);
  return {
    message: hasRoutes
      ? `it has routes to environment ${environment}, which is gone: its finalizers did not run`
      : `environment ${environment}, which it was made for, is gone: its finalizers did not run`,
    advice: `the controllers remove ${it} ${minutes} minutes after they first see ${it}; with --remove-orphans=false or --namespaces, remove ${it} yourself, routes before rules and clones`,
  };
}

function doubtful({ kind, environment, doubt }: Orphan, isCluster: boolean): string {
  const why = doubt === undefined ? '' : `, but ${doubt}`;
  if (!isCluster) {
    return `its annotation names environment ${environment}, which is not among the manifests: it may be left over${why}`;
  }
  if (environment !== '') {
    return `its annotation names environment ${environment}, which does not exist, but the controllers keep it: ${doubt}`;
  }
  return kind.kind === VirtualService.kind
    ? `it may have routes to an environment that does not exist, but the controllers keep them: ${doubt}`
    : `it may be left over from an environment that does not exist, but the controllers keep it: ${doubt}`;
}

/** What to do about an object that may belong to somebody else. */
function decide({ kind, environment }: Orphan): string {
  if (kind.kind === VirtualService.kind) {
    return environment === ''
      ? 'remove the route if nobody needs it'
      : `remove its routes to that environment, if there are any, and the name from the annotation ${WATCH_ANNOTATION}`;
  }
  const otherwise = environment === '' ? '' : `, or else remove its annotation ${WATCH_ANNOTATION}`;
  return `delete it if nobody needs it${otherwise}`;
}
