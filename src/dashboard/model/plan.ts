// What an environment would come to that nobody has made yet: the plan of its controllers, on the tables as they are. The
// API server is asked first, by a dry run, whether it would take it.
import { parse } from '../../kube/yaml.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { defaultSettings, environments, planEnvironments } from '../../environments/index.ts';
import type { EnvironmentPlan, Settings } from '../../environments/index.ts';
import { apiVersionOf, keyOf } from '../../kube/index.ts';
import type { Client, Tables } from '../../kube/index.ts';
import type { PlanAnswer, ProofAnswer } from '../data.ts';
import { planSentence } from '../sentences.ts';
import { carriedBy } from './rows.ts';
import { triedOf } from './tried.ts';
import { Refused } from '../refused.ts';

const FIELD_MANAGER = 'offshoot-dashboard';

/** Reads the manifest of one environment. */
export function readEnvironment(text: string): DynamicEnv {
  const object = parsed(text) as Partial<DynamicEnv> | null;
  const wanted = `${apiVersionOf(DynamicEnv)} ${DynamicEnv.kind}`;
  const found = `${object?.apiVersion ?? '(no apiVersion)'} ${object?.kind ?? '(no kind)'}`;
  if (typeof object !== 'object' || object === null || found !== wanted) {
    throw new Refused(400, `this is ${found}, not ${wanted}`, 'Paste the manifest of one environment.');
  }
  const { name, namespace } = object.metadata ?? {};
  if (typeof name !== 'string' || name === '') throw new Refused(400, 'metadata.name is missing', 'Give it a name.');
  if (typeof namespace !== 'string' || namespace === '') {
    throw new Refused(400, 'metadata.namespace is missing', 'Say where the environment belongs.');
  }
  return object as DynamicEnv;
}

function parsed(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 50 });
  } catch (error) {
    throw new Refused(400, `this is no YAML: ${(error as Error).message}`, 'Mind the line that is named.');
  }
}

/** Applies an environment, or only asks what that would give. */
export function applyEnvironment(client: Client, env: DynamicEnv, dryRun: boolean): Promise<DynamicEnv> {
  const { apiVersion, kind, metadata, spec } = env;
  const { name, namespace, labels, annotations } = metadata;
  const body = {
    apiVersion,
    kind,
    metadata: { name, namespace, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec,
  };
  return client.patch(
    DynamicEnv,
    { name, namespace: namespace! },
    { type: 'apply', body, force: false },
    { fieldManager: FIELD_MANAGER, fieldValidation: 'Strict', dryRun },
  );
}

/** The plan of an environment as the server would store it. */
export function planOf(tables: Tables, stored: DynamicEnv, now: number, settings: Partial<Settings> = {}): PlanAnswer {
  const all = { ...defaultSettings, ...settings };
  const { name, namespace } = stored.metadata;
  const plan = planEnvironments({
    controllers: environments(all),
    settings: all,
    tables,
    now,
    intents: [{ kind: DynamicEnv, put: stored }],
  });
  const [outcome] = plan.environments;
  const match = carriedBy(stored);
  const { state = 'unknown', problem } = outcome ?? {};
  const environment = keyOf(stored.metadata);
  const proof = proofIn(plan);
  const what = { environment, state, match, ...(problem !== undefined && { problem }) };
  return {
    sentence: planSentence(plan.changes, { ...what, ...(proof && { proof }) }),
    tone: problem === undefined && proof?.verdict !== 'False' ? 'good' : 'bad',
    environment,
    changes: plan.changes,
    stalled: plan.stalled,
    traffic: sentencesOf(plan),
    ...(proof && { proof }),
    commands: [`offshoot env plan -f ${name}.yaml`, `kubectl apply -f ${name}.yaml -n ${namespace}`],
  };
}

/** What happens to requests, in sentences. */
function sentencesOf({ traffic, changes, assumedReady }: EnvironmentPlan): readonly string[] {
  const partly = traffic.isPartial ? ['There may be more of them: not everything could be compared.'] : [];
  const told = traffic.changes.map(({ text }) => text);
  const hasRoutes = changes.some(({ kind }) => kind === 'VirtualService');
  const waits =
    hasRoutes && assumedReady.length > 0 ? [`Routes come once the pods of ${assumedReady.join(', ')} are ready.`] : [];
  return [
    ...(told.length === 0 && partly.length === 0 ? ['No request would go elsewhere.'] : told),
    ...partly,
    ...waits,
  ];
}

function proofIn({ proofs }: EnvironmentPlan): ProofAnswer | undefined {
  const [proof] = proofs;
  if (proof === undefined) return undefined;
  const { isolated: verdict, reason, message, notes, counterexample } = proof;
  return {
    verdict,
    reason,
    message,
    notes,
    ...(counterexample && { counterexample: triedOf(counterexample.request) }),
  };
}
