// How many claims of a class may have a target. Provisioners check it before they make one; the binder reports it.
import type { DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import type { View } from '../../controller/index.ts';
import { classParameters } from './parameters.ts';
import type { Problem } from './eligible.ts';
import { Claims, isProvidedFor } from '../world.ts';

/** Why a claim must wait for quota; undefined if it need not, or already has what it asks for. */
export function quotaProblem(
  view: View,
  claim: DeploymentTargetClaim,
  ofClass: DeploymentTargetClass,
): Problem | undefined {
  const { namespace } = claim.metadata;
  const { maxPerNamespace, maxTotal } = classParameters(ofClass).value ?? {};
  if (isProvidedFor(view, claim)) return undefined;
  const className = ofClass.metadata.name;
  if (maxPerNamespace !== undefined) {
    const before = ahead(view, claim, view.index(Claims, 'class', `${namespace}/${className}`));
    if (isFull(before, maxPerNamespace)) return exceeded(before, `${maxPerNamespace} in namespace ${namespace}`);
  }
  if (maxTotal !== undefined) {
    const before = ahead(view, claim, view.index(Claims, 'anyClass', className));
    if (isFull(before, maxTotal)) return exceeded(before, `${maxTotal}`);
  }
  return undefined;

  function exceeded({ taken, waiting }: Ahead, limit: string): Problem {
    const queue =
      waiting === 0 ? '' : `, and ${waiting === 1 ? '1 older claim waits' : `${waiting} older claims wait`}`;
    const message = `DeploymentTargetClass ${className} allows no more claims: ${taken} of ${limit} are taken${queue}; delete one, or wait`;
    return { reason: 'QuotaExceeded', message };
  }
}

/** How many more targets of a class there may be in a namespace. */
export function quotaLeft(view: View, ofClass: DeploymentTargetClass, namespace: string): number {
  const { maxPerNamespace, maxTotal } = classParameters(ofClass).value ?? {};
  const left = (max: number | undefined, index: string, value: string): number =>
    max === undefined ? Infinity : Math.max(0, max - view.index(Claims, index, value).length);
  const { name } = ofClass.metadata;
  return Math.min(left(maxPerNamespace, 'class', `${namespace}/${name}`), left(maxTotal, 'anyClass', name));
}

/** How many other claims already have a target, and how many older ones than this claim wait for one. */
interface Ahead {
  readonly taken: number;
  readonly waiting: number;
}

function ahead(view: View, claim: DeploymentTargetClaim, claims: readonly DeploymentTargetClaim[]): Ahead {
  let taken = 0;
  let waiting = 0;
  for (const other of claims) {
    if (other.metadata.uid === claim.metadata.uid) continue;
    if (isProvidedFor(view, other)) taken++;
    else if (other.metadata.deletionTimestamp === undefined && rank(other) < rank(claim)) waiting++;
  }
  return { taken, waiting };
}

function isFull({ taken, waiting }: Ahead, max: number): boolean {
  return taken + waiting >= max;
}

function rank({ metadata }: DeploymentTargetClaim): string {
  return `${metadata.creationTimestamp ?? ''} ${metadata.namespace}/${metadata.name}`;
}
