// What would happen to claims: the part of the controllers' forecast that concerns them, and their state afterwards.
import { DeploymentTarget, DeploymentTargetClaim, Environment } from '../../api/targets.ts';
import { namedIn, relatedTo, reportFollowing } from '../../controller/index.ts';
import type { Forecast, ForecastOptions, ForecastReport, Named } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import type { Ref, Tables } from '../../kube/index.ts';
import { expiryOf } from '../binding/expiry.ts';
import type { Expiry } from '../binding/expiry.ts';
import { refersTo } from '../claim-ref.ts';
import { phaseOf, problemOf, verdictOf, warningsOf } from '../describe/state.ts';
import { wasBound } from '../world.ts';

/** The state of a claim at the end of the forecast. */
export interface PlannedClaim {
  /** `namespace/name` */
  readonly claim: string;
  /** Its phase; `Gone` when it is deleted. */
  readonly phase: string;
  readonly target?: string;
  /** Why it would not be bound. */
  readonly problem?: string;
  readonly warnings?: readonly string[];
  /** When it expires. */
  readonly expiresAt?: string;
  /** How long it lives once it is bound, if it is not bound yet. */
  readonly expiresAfter?: string;
}

export interface ClaimPlan extends ForecastReport {
  readonly claims: readonly PlannedClaim[];
}

export type ClaimPlanOptions = Pick<
  ForecastOptions,
  'controllers' | 'tables' | 'now' | 'intents' | 'horizonMs' | 'refuse'
> & {
  /** Further claims to report on, beside those in the intents. */
  readonly claims?: readonly Ref[];
};

/** Plans claims: what would be created, changed and deleted for them or because of the intents, in order. */
export function planClaims({ claims = [], ...options }: ClaimPlanOptions): ClaimPlan {
  const { intents = [], tables } = options;
  const intended = intents.map(namedIn);
  const asked = claims.map((ref): Named => ({ kind: DeploymentTargetClaim, ref }));
  const about = [...asked, ...intended.filter(({ kind }) => kind === DeploymentTargetClaim)].map(({ ref }) => ref);
  const environments = [...tables.of(Environment).list()]
    .filter(({ metadata, spec }) => {
      const { claimName = '' } = spec.configuration?.target?.deploymentTargetClaim ?? {};
      return about.some(({ name, namespace }) => name === claimName && namespace === metadata.namespace);
    })
    .map(({ metadata }): Named => ({ kind: Environment, ref: metadata }));
  // Somebody may have deleted the target of a claim.
  const bound = about.flatMap((ref): readonly Named[] => {
    const claim = tables.of(DeploymentTargetClaim).get(keyOf(ref));
    const target = { name: claim?.spec.targetName ?? '', namespace: ref.namespace };
    const found = tables.of(DeploymentTarget).get(keyOf(target));
    return claim && found && refersTo(found, claim) ? [{ kind: DeploymentTarget, ref: target }] : [];
  });
  const roots = [...asked, ...intended, ...environments, ...bound];
  return reportFollowing(options, {
    concerning: (made) => relatedTo(roots, made),
    answer: (report, made) => ({ ...report, claims: about.map(claimIn(made, tables)) }),
  });
}

function claimIn({ facts }: Forecast, tables: Tables): (ref: Ref) => PlannedClaim {
  return (ref) => {
    const claim = facts.get(DeploymentTargetClaim, ref);
    const name = keyOf(ref);
    if (claim === undefined) return { claim: name, phase: 'Gone' };
    const { targetName = '' } = claim.spec;
    const verdict = verdictOf(claim);
    const isDeleting = claim.metadata.deletionTimestamp !== undefined;
    const problem = problemOf(claim) ?? (verdict.is === 'stuck' && !isDeleting ? verdict.reason : undefined);
    const warnings = warningsOf(claim).filter((warning) => warning !== problem);
    return {
      claim: name,
      phase: phaseOf(claim),
      ...(targetName !== '' && { target: targetName }),
      ...(problem !== undefined && { problem }),
      ...(warnings.length > 0 && { warnings }),
      ...(!isDeleting && plannedExpiry(expiryOf(facts, claim), tables.of(DeploymentTargetClaim).get(name))),
    };
  };
}

/** The time is known only if the claim is bound already: otherwise it depends on when that happens. */
function plannedExpiry(
  { ttl, expiresAt, problem }: Expiry,
  live: DeploymentTargetClaim | undefined,
): Pick<PlannedClaim, 'expiresAt' | 'expiresAfter'> {
  if (ttl === undefined || problem !== undefined) return {};
  return live && wasBound(live) && expiresAt !== undefined ? { expiresAt } : { expiresAfter: ttl };
}
