// Formats the outcome of an environment plan: changed traffic, orphans, and the states of the environments.
import type {
  EnvironmentPlan,
  PlannedEnvironment,
  PlannedOrphan,
  ProofData,
  Settings,
} from '../../environments/index.ts';
import { isolationText } from '../../environments/index.ts';
import type { Paint } from '../terminal/colour.ts';
import { expiryText } from '../terminal/plan.ts';

export function outcomeLines(plan: EnvironmentPlan, settings: Settings, paint: Paint): string[] {
  const { environments: all, assumedReady, changes, orphans, proofs, conflicts } = plan;
  const hasRoutes = changes.some(({ kind }) => kind === 'VirtualService');
  const waits = hasRoutes && assumedReady.length > 0 ? ['Routes come once the pods of their clones are ready.'] : [];
  return [
    ...trafficLines(plan),
    ...waits,
    ...orphanLines(orphans, settings),
    ...all.flatMap((each) => {
      const proof = proofs.find(({ environment }) => environment === each.environment);
      const contested = conflicts.filter(({ environment }) => environment === each.environment);
      return [
        environmentLine(each, paint),
        ...(proof === undefined ? [] : proofLines(proof, each.problem === undefined, changes.length > 0, paint)),
        ...contested.map(({ text }) => `  ${paint('busy', '!')} conflict: ${text}`),
      ];
    }),
  ];
}

function trafficLines({ traffic: { changes, isPartial }, changes: objects }: EnvironmentPlan): string[] {
  if (objects.length === 0) return [];
  const partly = isPartial ? ['There may be more: not everything could be compared.'] : [];
  if (changes.length === 0) return isPartial ? partly : ['No request would be routed differently.'];
  return ['', ...changes.map(({ text }) => text), ...partly, ''];
}

const VERDICTS = {
  True: { tone: 'good', sign: '✓' },
  False: { tone: 'bad', sign: '✗' },
  Unknown: { tone: 'busy', sign: '?' },
  Useless: { tone: 'busy', sign: '-' },
} as const;

/** Without changes, a proof is shown only if it did not succeed. */
function proofLines(proof: ProofData, works: boolean, isChanging: boolean, paint: Paint): string[] {
  const { isolated, message, notes, counterexample } = proof;
  if (isolated === 'True' && !isChanging) return [];
  // A positive proof of an environment that can't work is not marked as good.
  const { tone, sign } = VERDICTS[isolated === 'True' && !works ? 'Useless' : isolated];
  return [
    `  ${paint(tone, sign)} ${isolationText(isolated, message)}`,
    ...(counterexample === undefined ? [] : [`    try: ${counterexample.explain}`]),
    ...(isChanging ? notes.map((note) => `    note: ${note}`) : []),
  ];
}

function orphanLines(orphans: readonly PlannedOrphan[], { removeOrphans, orphanGraceMs }: Settings): string[] {
  const certain = orphans.filter(({ doubt }) => doubt === undefined);
  const names = [...new Set(certain.map(({ environment }) => environment))].join(', ');
  const minutes = Math.round(orphanGraceMs / 60_000);
  const when = removeOrphans ? `is removed ${minutes} minutes after the controllers first see it` : 'is left to you';
  return [
    ...(certain.length > 0 ? [`What environments left behind that are gone (${names}) ${when}.`] : []),
    ...orphans
      .filter(({ doubt }) => doubt !== undefined)
      .map(({ object, environment, doubt }) => {
        const owner = environment === '' ? 'an environment' : `environment ${environment}`;
        return `${object} may be an orphan of ${owner} and stays: ${doubt}`;
      }),
  ];
}

function environmentLine(planned: PlannedEnvironment, paint: Paint): string {
  const { environment, state, problem, message, expiresAfter } = planned;
  const would = `Environment ${environment} would be ${state}`;
  const expiry = expiryText(planned, `after ${expiresAfter}`);
  if (problem !== undefined) return `${paint('bad', '!')} ${would} and make no progress${expiry}: ${problem}`;
  return message === undefined ? `${would}${expiry}.` : `${would}${expiry}: ${message}`;
}
