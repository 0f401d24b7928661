// The heading of every screen: one sentence that answers the user's first question. Pure; the page calls some of these
// functions itself. Names are between backticks.
import type { EnvironmentRow, ProofAnswer, Row, RowType, Session } from './data.ts';

const code = (text: string): string => `\`${text}\``;

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** The states of all environments, and which one needs attention. */
export function overviewSentence(
  rows: readonly EnvironmentRow[],
  { isRestricted }: Pick<Session, 'isRestricted'> = {},
): string {
  if (rows.length === 0) return `There is no environment ${isRestricted === true ? 'that you may read' : 'yet'}.`;
  const ready = rows.filter(({ tone }) => tone === 'good').length;
  const bad = rows.filter(({ tone }) => tone === 'bad');
  const busy = rows.filter(({ tone }) => tone === 'busy').length;
  const held = (state: string): number => rows.filter((row) => row.tone === 'idle' && row.state === state).length;
  const counts: readonly (readonly [number, string])[] = [
    [ready, 'ready'],
    [busy, 'in progress'],
    [held('paused'), 'paused'],
    [held('asleep'), 'asleep'],
    [held('deleting'), 'being deleted'],
  ];
  const parts = counts
    .filter(([number]) => number > 0)
    .map(([number, how], i) => `${i === 0 ? count(number, 'environment') : number} ${how}`);
  const [first] = bad;
  if (first === undefined) return `${parts.join(', ')}.`;
  const needAttention = `${parts.length > 0 ? bad.length : count(bad.length, 'environment')} ${bad.length === 1 ? 'needs' : 'need'} attention`;
  const why = first.problem === undefined ? code(first.name) : `${code(first.name)} – ${withoutStop(first.problem)}`;
  return `${[...parts, needAttention].join(', ')}: ${why}.`;
}

/** The requests that an environment takes, and whether others are affected. */
export function environmentSentence(row: EnvironmentRow, provedAgo?: string): string {
  const { name, state, tone, problem, isolation, requests, replaces, exceptions = [] } = row;
  if (state === 'deleting') return `${code(name)} is being deleted.`;
  if (tone !== 'good') {
    const why = problem === undefined ? '' : `: ${withoutStop(problem)}`;
    return `${code(name)} is ${state === 'degraded' ? 'not working' : state}${why}.`;
  }
  const images = replaces.filter(({ isConsumer }) => isConsumer === undefined);
  const reached = images.map(({ workload, images: own }) => code(own[0] ?? workload)).join(' and ');
  const consumers = replaces.length - images.length;
  const what =
    reached === ''
      ? `${code(name)} runs ${count(consumers, 'consumer')} and takes no requests`
      : `Requests with ${requests} reach ${reached}${exceptionsText(exceptions)}`;
  return `${what}; ${isolationText(isolation, provedAgo)}.`;
}

function exceptionsText(exceptions: NonNullable<EnvironmentRow['exceptions']>): string {
  const texts = exceptions.map(({ match, taker }) => `${code(match)} (${taker})`);
  return texts.length === 0 ? '' : `, except ${texts.join(', ')}`;
}

function isolationText(isolation: EnvironmentRow['isolation'], provedAgo: string | undefined): string {
  if (isolation === undefined) return 'whether anybody else is affected has not been proved';
  if (isolation.status === 'True') {
    const where = isolation.message.startsWith('every request in the mesh') ? ' in the mesh' : '';
    return `nobody else${where} is affected (proved${provedAgo === undefined ? '' : ` ${provedAgo} ago`})`;
  }
  if (isolation.status === 'False') return `but others are affected: ${withoutStop(isolation.message)}`;
  return `whether anybody else is affected can't be determined: ${withoutStop(isolation.message)}`;
}

const NOUNS: Readonly<Record<RowType, readonly [one: string, many: string]>> = {
  environment: ['environment', 'environments'],
  claim: ['claim', 'claims'],
  target: ['target', 'targets'],
  rule: ['routing rule', 'routing rules'],
  istio: ['Istio resource', 'Istio resources'],
};

/** The states of all objects of one kind. */
export function listSentence(
  type: RowType,
  rows: readonly Row[],
  { isRestricted }: Pick<Session, 'isRestricted'> = {},
): string {
  const [one, many] = NOUNS[type];
  if (rows.length === 0) return `There is no ${one}${isRestricted === true ? ' that you may read' : ''}.`;
  const good = rows.filter(({ tone }) => tone === 'good').length;
  const [first, ...others] = rows.filter(({ tone }) => tone === 'bad');
  const all = `${good} of ${count(rows.length, one, many)} ${good === 1 ? 'is' : 'are'} healthy`;
  if (first === undefined) return good === rows.length ? `${all}.` : `${all}; the rest is in progress.`;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return `${all}; ${code(first.name)}${more} needs attention${first.problem === undefined ? '' : `: ${withoutStop(first.problem)}`}.`;
}

/** The state of an object that is not an environment. */
export function objectSentence({ type, name, state, problem }: Row): string {
  const [one] = NOUNS[type];
  return `${one[0]!.toUpperCase()}${one.slice(1)} ${code(name)} is ${state}${problem === undefined ? '' : `: ${withoutStop(problem)}`}.`;
}

interface PlannedOutcome {
  readonly environment: string;
  readonly state: string;
  readonly problem?: string;
  /** What the requests carry; names are between backticks. */
  readonly requests: string;
  readonly proof?: ProofAnswer;
}

/** The outcome of a plan. */
export function planSentence(
  changes: readonly { readonly do: string }[],
  { environment, state, problem, requests, proof }: PlannedOutcome,
): string {
  const of = (verbs: readonly string[]): number => changes.filter((each) => verbs.includes(each.do)).length;
  const [made, changed, removed] = [of(['make']), of(['change', 'replace']), of(['remove'])];
  if (problem !== undefined)
    return `${code(environment)} would be ${state} and make no progress: ${withoutStop(problem)}.`;
  if (made + changed + removed === 0) return `Nothing to do: ${code(environment)} already matches this.`;
  const parts = [
    ...(made > 0 ? [`makes ${count(made, 'object')}`] : []),
    ...(changed > 0 ? [`changes ${made > 0 ? changed : count(changed, 'object')}`] : []),
    ...(removed > 0 ? [`removes ${made + changed > 0 ? removed : count(removed, 'object')}`] : []),
  ];
  const what = `This ${parts.join(', ')}`;
  if (proof?.verdict === 'False') return `${what}, and reroutes requests of others: ${withoutStop(proof.message)}.`;
  if (proof?.verdict === 'Unknown') return `${what}; whether it reroutes requests of others can't be determined.`;
  return `${what}, and reroutes only requests with ${requests}.`;
}

function withoutStop(text: string): string {
  return text.replace(/\.$/, '');
}
