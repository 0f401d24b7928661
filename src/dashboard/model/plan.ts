// What an environment would change before it is created: the plan of its controllers on the current tables. A dry run
// first checks that the API server would accept it.
import { parse } from '../../kube/yaml.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { environments, ISOLATION, itemsOf, planEnvironments } from '../../environments/index.ts';
import type { EnvironmentPlan, Settings } from '../../environments/index.ts';
import { apiVersionOf, defineKind, keyOf } from '../../kube/index.ts';
import type { AnyKind, Client, Tables } from '../../kube/index.ts';
import { DestinationRule, VirtualService } from '../../traffic/istio/objects.ts';
import { Deployment } from '../../traffic/services.ts';
import type { PlanAnswer, ProofAnswer } from '../data.ts';
import { planSentence } from '../sentences.ts';
import { requestsOf } from './rows.ts';
import type { Scope } from './scope.ts';
import { triedRequestOf } from './tried-request.ts';
import { mayReadAll, readsOfDecision } from './visible.ts';
import { Refused } from '../refused.ts';

const FIELD_MANAGER = 'offshoot-dashboard';

/** Reads the manifest of one environment. */
export function readEnvironment(text: string): DynamicEnv {
  const object = parsed(text) as Partial<DynamicEnv> | null;
  const expected = `${apiVersionOf(DynamicEnv)} ${DynamicEnv.kind}`;
  const found = `${object?.apiVersion ?? '(no apiVersion)'} ${object?.kind ?? '(no kind)'}`;
  if (typeof object !== 'object' || object === null || found !== expected) {
    throw new Refused(400, `this is ${found}, not ${expected}`, 'Paste the manifest of one environment.');
  }
  const { name, namespace } = object.metadata ?? {};
  if (typeof name !== 'string' || name === '') throw new Refused(400, 'metadata.name is missing', 'Give it a name.');
  if (typeof namespace !== 'string' || namespace === '') {
    throw new Refused(400, 'metadata.namespace is missing', 'Add the namespace of the environment.');
  }
  return object as DynamicEnv;
}

function parsed(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 50 });
  } catch (error) {
    throw new Refused(400, `this is not YAML: ${(error as Error).message}`, 'Check the line in the message.');
  }
}

/** Applies an environment, or runs a dry run. */
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

/** Throws unless the user may read the environment's workloads: a plan shows their state. */
export function mustReadWorkloads({ may }: Pick<Scope, 'may'>, env: DynamicEnv): void {
  const { subsets, consumers } = itemsOf(env);
  const namespaces = new Set([...subsets, ...consumers].map(({ namespace }) => namespace));
  const hidden = [...namespaces].find((namespace) => !may('list', Deployment, namespace));
  if (hidden === undefined) return;
  throw new Refused(403, `you may not read deployments in namespace ${hidden}`, 'Ask for permission to list them.');
}

/** What the controllers would do for an environment, as the API server would store it. */
export function planFor(tables: Tables, stored: DynamicEnv, settings: Settings, now: number): EnvironmentPlan {
  return planEnvironments({
    controllers: environments(settings),
    settings,
    tables,
    now,
    intents: [{ kind: DynamicEnv, put: stored }],
  });
}

/** The parts of a plan that the user may read. */
export function planAnswer(
  scope: Pick<Scope, 'settings' | 'may'>,
  stored: DynamicEnv,
  whole: EnvironmentPlan,
): PlanAnswer {
  const { name, namespace } = stored.metadata;
  const file = `${name}.yaml`;
  const { plan, isWhole } = visiblePlan(scope, whole);
  const [outcome] = plan.environments;
  const requests = requestsOf(stored, scope.settings);
  const { state = 'unknown', problem } = outcome ?? {};
  const environment = keyOf(stored.metadata);
  const proof = proofIn(plan);
  const what = { environment, state, requests, ...(problem !== undefined && { problem }) };
  return {
    sentence: planSentence(plan.changes, { ...what, ...(proof && { proof }) }),
    tone: problem === undefined && proof?.verdict !== 'False' ? 'good' : 'bad',
    environment,
    file,
    changes: plan.changes,
    stalled: plan.stalled,
    traffic: [...sentencesOf(plan), ...(isWhole ? [] : [HIDDEN])],
    ...(proof && { proof }),
    commands: [`offshoot env plan -f ${file}`, `kubectl apply -f ${file} -n ${namespace}`],
  };
}

const HIDDEN = 'Some changes are hidden: they concern objects that you may not read.';
const KINDS: readonly AnyKind[] = [DynamicEnv, Deployment, DestinationRule, VirtualService];

/** The visible part of a plan. A proof about objects that the user may not read is reduced to its verdict. */
function visiblePlan(
  scope: Pick<Scope, 'settings' | 'may'>,
  plan: EnvironmentPlan,
): { readonly plan: EnvironmentPlan; readonly isWhole: boolean } {
  const changes = plan.changes.map((each) => ({ each, isShown: mayReadAll(scope, [[kindOf(each), each.namespace]]) }));
  const traffic = plan.traffic.changes.map((each) => {
    const { before, after } = each.example;
    const reads = [...readsOfDecision(scope, before), ...readsOfDecision(scope, after)];
    return { each, isShown: mayReadAll(scope, reads) };
  });
  const isAboutAll = mayReadAll(scope, [[VirtualService, undefined]]);
  const isWhole = [...changes, ...traffic].every(({ isShown }) => isShown);
  const proofs = plan.proofs.map(({ counterexample, notes, message, ...proof }) => {
    const decisions = counterexample === undefined ? [] : [counterexample.before, counterexample.after];
    const isShown = mayReadAll(
      scope,
      decisions.flatMap((each) => readsOfDecision(scope, each)),
    );
    return {
      ...proof,
      message: isShown ? message : HIDDEN,
      notes: isAboutAll ? notes : [],
      ...(isShown && counterexample && { counterexample }),
    };
  });
  const shown = <T>(all: readonly { readonly each: T; readonly isShown: boolean }[]): readonly T[] =>
    all.filter(({ isShown }) => isShown).map(({ each }) => each);
  return {
    plan: { ...plan, changes: shown(changes), traffic: { ...plan.traffic, changes: shown(traffic) }, proofs },
    isWhole,
  };
}

function kindOf({ apiVersion, kind }: EnvironmentPlan['changes'][number]): AnyKind {
  const known = KINDS.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
  return known ?? defineKind(apiVersion, kind, `${kind.toLowerCase()}s`);
}

/** What happens to requests, in sentences. */
function sentencesOf({ traffic, changes, assumedReady }: EnvironmentPlan): readonly string[] {
  const partialNote = traffic.isPartial ? ['There may be more: not everything could be compared.'] : [];
  const texts = traffic.changes.map(({ text }) => text);
  const hasRoutes = changes.some(({ kind }) => kind === 'VirtualService');
  const waitNote =
    hasRoutes && assumedReady.length > 0 ? [`Routes come once the pods of ${assumedReady.join(', ')} are ready.`] : [];
  return [
    ...(texts.length === 0 && partialNote.length === 0 ? ['No request would be routed differently.'] : texts),
    ...partialNote,
    ...waitNote,
  ];
}

function proofIn({ proofs }: EnvironmentPlan): ProofAnswer | undefined {
  const [proof] = proofs;
  if (proof === undefined) return undefined;
  const { isolated: verdict, reason, message, notes, counterexample } = proof;
  return {
    verdict,
    word: ISOLATION[verdict],
    reason,
    message,
    notes,
    ...(counterexample && { counterexample: triedRequestOf(counterexample.request) }),
  };
}
