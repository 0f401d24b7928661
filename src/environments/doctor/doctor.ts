// What would stop environments from working here: for each workload that requests are sent to, what an environment of it
// would meet. It is looked up as the controllers look it up, for an environment that nobody has made. For `offshoot doctor`.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Facts } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import type { AnyKind } from '../../kube/index.ts';
import { worldTables } from '../../traffic/index.ts';
import { factsOf } from '../facts.ts';
import type { EnvironmentFacts } from '../facts.ts';
import { LEFT_BEHIND_ADVICE, toldLeftBehind } from '../left-behind.ts';
import { Deployment } from '../objects.ts';
import { baseProblem } from '../ownership.ts';
import { uniqueVersion } from '../names.ts';
import type { Settings } from '../settings.ts';
import { environmentTables } from '../tables.ts';
import { about, sorted } from './finding.ts';
import type { Finding } from './finding.ts';
import { baseRuleFindings } from './base-rules.ts';
import { routeFindings, waysTo } from './routes.ts';
import { ruleFindings } from './rules.ts';
import { clonesOnlyFindings, serviceFindings } from './services.ts';
import { sidecarFindings, sidecarTables } from './sidecars.ts';

export interface Diagnosis {
  /** How many workloads with a Service were looked at. */
  readonly workloads: number;
  /** The worst first. */
  readonly findings: readonly Finding[];
}

/** All tables that are read. */
export const doctorTables: readonly AnyKind[] = [...environmentTables, ...worldTables, ...sidecarTables];

/** Namespaces whose workloads nobody makes environments of, unless they are asked for by name. */
const SYSTEM = new Set(['kube-system', 'kube-public', 'kube-node-lease', 'istio-system']);

export interface DiagnoseOptions {
  /** Looks at the workloads of this namespace alone. */
  readonly namespace?: string;
  /** Whether it is the embedded cluster, where no pod really runs. */
  readonly isEmbedded?: boolean;
}

/** Looks at the workloads of a cluster, or of manifests. */
export function diagnose(view: Facts, settings: Settings, options: DiagnoseOptions = {}): Diagnosis {
  const { namespace, isEmbedded = false } = options;
  const isAsked = (each = ''): boolean => (namespace === undefined ? !SYSTEM.has(each) : each === namespace);
  const bases = view
    .list(Deployment)
    .filter(
      ({ metadata, spec }) =>
        isAsked(metadata.namespace) && (spec as Deployment['spec'] | undefined)?.template !== undefined,
    )
    .filter((each) => baseProblem(each) === undefined);
  const called = bases
    .map((base) => factsOfBase(view, base, settings))
    .filter(({ workloads: [workload] }) => workload!.services.length > 0);
  const findings = called.flatMap((facts) => {
    const ways = waysTo(view, facts, settings);
    return [
      ...serviceFindings(facts, settings),
      ...ruleFindings(facts, settings),
      ...routeFindings(ways, settings),
      ...baseRuleFindings(view, ways, facts.workloads[0]!.subset, settings),
    ];
  });
  const others = [
    ...clonesOnlyFindings(view, isAsked),
    ...sidecarFindings(view, isAsked, isEmbedded),
    ...leftBehindFindings(view, isAsked),
  ];
  return { workloads: called.length, findings: sorted([...findings, ...others]) };
}

/** Environments that have something where the controllers no longer look. */
function leftBehindFindings(view: Facts, isAsked: (namespace?: string) => boolean): readonly Finding[] {
  const asked = view.list(DynamicEnv).filter(({ metadata }) => isAsked(metadata.namespace));
  return asked.flatMap((env): readonly Finding[] => {
    const message = toldLeftBehind(env);
    if (message === undefined) return [];
    return [{ severity: 'error', reason: 'LeftBehind', ...about(env), message, advice: LEFT_BEHIND_ADVICE }];
  });
}

/** What concerns an environment that has a workload as its only subset. */
function factsOfBase(view: Facts, { metadata }: Deployment, settings: Settings): EnvironmentFacts {
  const { name, namespace = '' } = metadata;
  const env: DynamicEnv = {
    apiVersion: 'riskified.com/v1alpha1',
    kind: DynamicEnv.kind,
    metadata: { name: 'doctor', namespace: freeNamespace(view) },
    spec: { istioMatches: [], subsets: [{ name, namespace, containers: [] }] },
  };
  return factsOf(view, env, { version: uniqueVersion(env.metadata), taken: [] }, settings, { makes: true });
}

/** A namespace in which no environment is. */
function freeNamespace(view: Facts): string {
  const taken = new Set(view.list(DynamicEnv).map(({ metadata }) => keyOf(metadata)));
  let namespace = 'offshoot';
  while (taken.has(`${namespace}/doctor`)) namespace += '-';
  return namespace;
}
