// `offshoot claim plan`: what the controllers would do about claims, and with which result, without doing it.
import type { Intent } from '../../controller/index.ts';
import type { Ref } from '../../kube/objects.ts';
import type { ClusterAddress } from '../../kube/write/steps.ts';
import { issuedAddress, planClaims, targetTables } from '../../targets/index.ts';
import type { ClaimPlan, PlannedClaim } from '../../targets/index.ts';
import { interruptible } from '../exit.ts';
import { askedFor } from '../manifests/intents.ts';
import type { IntentOptions } from '../manifests/intents.ts';
import { withTables } from '../objects/tables.ts';
import { withConnection } from '../options.ts';
import type { Connection } from '../options.ts';
import { partsOf } from '../run/parts.ts';
import { targetSettings } from '../run/target-flags.ts';
import type { TargetOptions } from '../run/target-flags.ts';
import type { Paint } from '../terminal/colour.ts';
import { printPlan } from '../terminal/plan.ts';
import { claimChecks } from './checks.ts';
import { CLAIM } from './nouns.ts';
import type { DataFormat } from '../terminal/output.ts';

export interface ClaimPlanOptions extends IntentOptions, TargetOptions {
  readonly output?: DataFormat;
}

/** Where the control plane runs, if nobody says otherwise. */
const NAMESPACE = 'offshoot-system';

const ACCEPTED = { checks: claimChecks, one: 'a claim, target, class or Environment' };

/** Prints what would happen; exit code 2 if that is anything, 1 if a claim would get no further. */
export function planClaimsCommand(name: string | undefined, options: ClaimPlanOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const { asked: claims, intents } = await askedFor(name, CLAIM, ACCEPTED, options, connection);
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
    return planClaims({ controllers, tables, now: Date.now(), claims, intents });
  });
}

/** How the claims would be. */
function outcomeLines({ claims }: ClaimPlan, paint: Paint): string[] {
  const warnings = claims.flatMap(({ claim, warnings: all = [] }) => all.map((each) => `  warning: ${claim}: ${each}`));
  return [...claims.map((claim) => claimLine(claim, paint)), ...warnings];
}

function claimLine({ claim, phase, target, problem }: PlannedClaim, paint: Paint): string {
  if (problem !== undefined)
    return `${paint('bad', '!')} Claim ${claim} would be ${phase} and make no progress: ${problem}`;
  if (phase === 'Gone') return `Claim ${claim} would be gone.`;
  return `Claim ${claim} would be ${phase}${target === undefined ? '' : `, with DeploymentTarget ${target}`}.`;
}
