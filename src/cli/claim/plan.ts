// `offshoot claim plan`: what the controllers would do about claims, and with which result, without doing it.
import { DeploymentTargetClaim } from '../../api/targets.ts';
import type { Intent } from '../../controller/index.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeObject, Ref } from '../../kube/objects.ts';
import type { ClusterAddress } from '../../kube/write/steps.ts';
import { issuedAddress, planClaims, targetTables } from '../../targets/index.ts';
import type { ClaimPlan, PlannedClaim } from '../../targets/index.ts';
import { CommandFailed, EXIT, interruptible, invalidFlag } from '../exit.ts';
import { checkedObjects } from '../manifests/checked.ts';
import type { TypedObject } from '../manifests/checked.ts';
import { getByName, listOfKind, unknownKind } from '../objects/find.ts';
import { withTables } from '../objects/tables.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions, Connection } from '../options.ts';
import { partsOf } from '../run/parts.ts';
import { targetSettings } from '../run/target-flags.ts';
import type { TargetOptions } from '../run/target-flags.ts';
import { changeLines, countLine, stallLines } from '../terminal/changes.ts';
import { painter } from '../terminal/colour.ts';
import type { Paint } from '../terminal/colour.ts';
import { dataText } from '../terminal/output.ts';
import { claimChecks } from './checks.ts';
import { CLAIM } from './nouns.ts';

export interface ClaimPlanOptions extends ClusterOptions, TargetOptions {
  readonly filename?: readonly string[];
  readonly delete?: readonly string[];
  readonly output?: 'json' | 'yaml';
}

/** Where the control plane runs, if nobody says otherwise. */
const NAMESPACE = 'offshoot-system';

/** Prints what would happen; exit code 2 if that is anything, 1 if a claim would get no further. */
export function planClaimsCommand(name: string | undefined, options: ClaimPlanOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const { claims, intents } = await wishes(name, options, connection);
    const plan = await interruptible((signal) => planned(connection, claims, intents, options, signal));
    if (options.output !== undefined) process.stdout.write(dataText(options.output, plan));
    else for (const line of planLines(plan, painter(process.stdout))) console.log(line);
    const isStalled = plan.stalled.length > 0 || plan.claims.some(({ problem }) => problem !== undefined);
    if (isStalled) throw new CommandFailed(EXIT.error);
    if (plan.changes.length > 0) throw new CommandFailed(EXIT.changes);
  });
}

interface Wishes {
  /** Claims as they are. */
  readonly claims: readonly Ref[];
  readonly intents: readonly Intent[];
}

async function wishes(
  name: string | undefined,
  { filename, delete: deleted = [], ...options }: ClaimPlanOptions,
  connection: Connection,
): Promise<Wishes> {
  const { client, namespace } = connection;
  if (name !== undefined && filename !== undefined) {
    throw invalidFlag('NAME', name, 'with -f, names come from the files; leave it out');
  }
  const accepted = { checks: claimChecks, one: 'a claim, target, class or Environment' };
  const written = filename === undefined ? [] : checkedObjects(filename, options, namespace, accepted);
  const puts = await Promise.all(written.map((each) => applied(connection, each)));
  const going = await Promise.all(deleted.map((each) => getByName(client, CLAIM, { name: each, namespace })));
  const intents = [...puts, ...going.map(({ metadata }) => ({ kind: DeploymentTargetClaim, delete: metadata }))];
  if (name !== undefined) return { claims: [(await getByName(client, CLAIM, { name, namespace })).metadata], intents };
  const isAll = intents.length === 0;
  return {
    claims: isAll ? (await listOfKind(client, CLAIM, { namespace })).map(({ metadata }) => metadata) : [],
    intents,
  };
}

/** An object as the server would store it after it is applied. Whoever applied it before is no obstacle to a plan. */
async function applied({ client }: Connection, { kind, object }: TypedObject): Promise<Intent> {
  const ref = { name: object.metadata.name, ...(kind.namespaced && { namespace: object.metadata.namespace! }) };
  const before = await client.get<KubeObject>(kind, ref).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
  const patch = { type: 'apply', body: object, force: true } as const;
  const sending = { fieldManager: 'offshoot-cli', fieldValidation: 'Strict', dryRun: true } as const;
  const after = await client.patch<KubeObject>(kind, ref, patch, sending).catch((error: unknown) => {
    throw isNotFound(error) && error.details?.kind !== 'namespaces' ? unknownKind(kind) : error;
  });
  if (before !== undefined) return { kind, put: after };
  // What a dry run made up is not what will be.
  const { uid: _uid, ...metadata } = after.metadata;
  return { kind, put: { ...after, metadata } };
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

/** A plan as lines of text. */
function planLines({ changes, stalled, claims }: ClaimPlan, paint: Paint): string[] {
  const told = [...stallLines(stalled, paint), ...claims.map((claim) => claimLine(claim, paint))];
  const warnings = claims.flatMap(({ claim, warnings: all = [] }) => all.map((each) => `  warning: ${claim}: ${each}`));
  if (changes.length === 0) return ['Nothing to do.', ...told, ...warnings];
  return [...changeLines(changes, paint), '', countLine(changes), ...told, ...warnings];
}

function claimLine({ claim, phase, target, problem }: PlannedClaim, paint: Paint): string {
  if (problem !== undefined)
    return `${paint('bad', '!')} Claim ${claim} would be ${phase} and get no further: ${problem}`;
  if (phase === 'Gone') return `Claim ${claim} would be gone.`;
  return `Claim ${claim} would be ${phase}${target === undefined ? '' : `, with DeploymentTarget ${target}`}.`;
}
