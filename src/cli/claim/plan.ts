// `offshoot claim plan`: shows what the controllers would do for claims, and the result, without writing anything.
import type { Intent } from '../../controller/index.ts';
import type { Ref } from '../../kube/objects.ts';
import type { ClusterAddress } from '../../kube/write/steps.ts';
import { issuedAddress, planClaims, targetTables } from '../../targets/index.ts';
import type { ClaimPlan, PlannedClaim } from '../../targets/index.ts';
import { interruptible } from '../exit.ts';
import { planInput } from '../manifests/intents.ts';
import type { IntentOptions } from '../manifests/intents.ts';
import { DryRuns } from '../objects/dry-runs.ts';
import { withTables } from '../objects/tables.ts';
import { withConnection } from '../options.ts';
import type { Connection } from '../options.ts';
import { partsOf } from '../run/parts.ts';
import { targetSettings } from '../run/target-flags.ts';
import type { TargetOptions } from '../run/target-flags.ts';
import type { Paint } from '../terminal/colour.ts';
import { expiryText, printPlan } from '../terminal/plan.ts';
import { claimChecks } from './checks.ts';
import { CLAIM } from './nouns.ts';
import type { DataFormat } from '../terminal/output.ts';

export interface ClaimPlanOptions extends IntentOptions, TargetOptions {
  readonly output?: DataFormat;
}

/** The default namespace of the control plane. */
const NAMESPACE = 'offshoot-system';

const ACCEPTED = { checks: claimChecks, one: 'a claim, target, class or Environment' };

/** Prints the plan. Exit code 2 if there are changes, 1 if a claim would make no progress. */
export function planClaimsCommand(name: string | undefined, options: ClaimPlanOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const { existing: claims, intents } = await planInput(name, CLAIM, ACCEPTED, options, connection);
    const plan = await interruptible((signal) => planned(connection, claims, intents, options, signal));
    const isStalled = plan.stalled.length > 0 || plan.claims.some(({ problem }) => problem !== undefined);
    printPlan(plan, { output: options.output, isStalled, outcome: outcomeLines });
  });
}

function planned(
  { client, config }: Connection,
  claims: readonly Ref[],
  intents: readonly Intent[],
  options: ClaimPlanOptions,
  signal: AbortSignal,
): Promise<ClaimPlan> {
  const [part] = partsOf(['targets']);
  const settings = targetSettings(options);
  const controllersAt = (address: ClusterAddress) =>
    part!.controllers({ settings: {}, targets: settings, config: address, namespace: NAMESPACE });
  return withTables(client, targetTables, signal, async (tables) => {
    const controllers = controllersAt((await issuedAddress(tables)) ?? config);
    const now = Date.now();
    const dryRuns = new DryRuns({ client, tables, controller: controllers[0]!.name, signal });
    return dryRuns.repeat(({ refuse }) => planClaims({ controllers, tables, now, claims, intents, refuse }));
  });
}

/** The planned states of the claims. */
function outcomeLines({ claims }: ClaimPlan, paint: Paint): string[] {
  const warnings = claims.flatMap(({ claim, warnings: all = [] }) => all.map((each) => `  warning: ${claim}: ${each}`));
  return [...claims.map((claim) => claimLine(claim, paint)), ...warnings];
}

function claimLine(planned: PlannedClaim, paint: Paint): string {
  const { claim, phase, target, problem, expiresAfter } = planned;
  if (problem !== undefined)
    return `${paint('bad', '!')} Claim ${claim} would be ${phase} and make no progress: ${problem}`;
  if (phase === 'Gone') return `Claim ${claim} would be gone.`;
  const expiry = expiryText(planned, phase === 'Bound' ? `after ${expiresAfter}` : `${expiresAfter} after it is bound`);
  return `Claim ${claim} would be ${phase}${target === undefined ? '' : `, with DeploymentTarget ${target}`}${expiry}.`;
}
