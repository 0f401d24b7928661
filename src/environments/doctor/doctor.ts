// Problems that would stop environments from working: for each workload with a Service, those that an environment of it
// would have. The same lookups as in the controllers, for an environment that does not exist. For `offshoot doctor`.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Facts } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import type { AnyKind } from '../../kube/index.ts';
import { worldTables } from '../../traffic/index.ts';
import { factsOf } from '../facts.ts';
import type { EnvironmentFacts } from '../facts.ts';
import { LEFT_BEHIND_ADVICE, reportedLeftBehind } from '../status/unwatched-namespaces.ts';
import { Deployment } from '../objects.ts';
import { baseProblem } from '../identity/ownership.ts';
import { uniqueVersion } from '../names.ts';
import type { Settings } from '../settings.ts';
import { environmentTables } from '../tables.ts';
import { about, sorted } from './finding.ts';
import type { Finding } from './finding.ts';
import { baseRuleFindings } from './base-rules.ts';
import { orphanFindings } from './orphans.ts';
import { routeFindings, waysTo } from './routes.ts';
import { ruleFindings } from './rules.ts';
import { clonesOnlyFindings, serviceFindings } from './services.ts';
import { sidecarFindings, sidecarTables } from './sidecars.ts';

export interface Diagnosis {
  /** How many workloads with a Service were checked. */
  readonly workloads: number;
  /** Worst first. */
  readonly findings: readonly Finding[];
}

/** All tables that `diagnose` reads. */
export const doctorTables: readonly AnyKind[] = [...environmentTables, ...worldTables, ...sidecarTables];

/** System namespaces: checked only if they are asked for by name. */
const SYSTEM = new Set(['kube-system', 'kube-public', 'kube-node-lease', 'istio-system']);

export interface DiagnoseOptions {
  /** Checks only the workloads of this namespace. */
  readonly namespace?: string;
  /** Whether this is the embedded cluster, where pods are simulated. */
  readonly isEmbedded?: boolean;
  /** Whether the tables were read from a cluster. Manifests may lack environments, so nothing there is surely an orphan. */
  readonly isCluster?: boolean;
}

/** Checks the workloads of a cluster, or of manifests. */
export function diagnose(view: Facts, settings: Settings, options: DiagnoseOptions = {}): Diagnosis {
  const { namespace, isEmbedded = false, isCluster = false } = options;
  const isSelected = (each = ''): boolean => (namespace === undefined ? !SYSTEM.has(each) : each === namespace);
  const bases = view
    .list(Deployment)
    .filter(
      ({ metadata, spec }) =>
        isSelected(metadata.namespace) && (spec as Deployment['spec'] | undefined)?.template !== undefined,
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
    ...clonesOnlyFindings(view, isSelected),
    ...sidecarFindings(view, isSelected, isEmbedded),
    ...leftBehindFindings(view, isSelected),
    ...orphanFindings(view, settings, { isSelected, isCluster }),
  ];
  return { workloads: called.length, findings: sorted([...findings, ...others]) };
}

/** Whether an orphan is among the findings: then a second look at the cluster must confirm it. */
export function hasOrphans({ findings }: Diagnosis): boolean {
  return findings.some(isAboutOrphan);
}

/**
 * A diagnosis with only the orphans that an earlier one found too. Kinds are listed one after the other: an environment
 * that is created or deleted meanwhile may be missing beside its clones in one look, but not in two.
 */
export function confirmed(diagnosis: Diagnosis, earlier: Diagnosis): Diagnosis {
  const idOf = ({ kind, object, message }: Finding): string => `${kind} ${object} ${message}`;
  const known = new Set(earlier.findings.filter(isAboutOrphan).map(idOf));
  return {
    ...diagnosis,
    findings: diagnosis.findings.filter((finding) => !isAboutOrphan(finding) || known.has(idOf(finding))),
  };
}

function isAboutOrphan({ reason }: Finding): boolean {
  return reason === 'Orphaned' || reason === 'MayBeOrphaned';
}

/** Environments with objects in namespaces that are no longer watched. */
function leftBehindFindings(view: Facts, isSelected: (namespace?: string) => boolean): readonly Finding[] {
  const asked = view.list(DynamicEnv).filter(({ metadata }) => isSelected(metadata.namespace));
  return asked.flatMap((env): readonly Finding[] => {
    const message = reportedLeftBehind(env);
    if (message === undefined) return [];
    return [{ severity: 'error', reason: 'LeftBehind', ...about(env), message, advice: LEFT_BEHIND_ADVICE }];
  });
}

/** The facts of an environment that has this workload as its only subset. */
function factsOfBase(view: Facts, { metadata }: Deployment, settings: Settings): EnvironmentFacts {
  const { name, namespace = '' } = metadata;
  const env: DynamicEnv = {
    apiVersion: 'riskified.com/v1alpha1',
    kind: DynamicEnv.kind,
    metadata: { name: 'doctor', namespace: freeNamespace(view) },
    spec: { istioMatches: [], subsets: [{ name, namespace, containers: [] }] },
  };
  return factsOf(view, env, { version: uniqueVersion(env.metadata), taken: [] }, settings, { lookUpDesired: true });
}

/** A namespace without an environment `doctor`. */
function freeNamespace(view: Facts): string {
  const taken = new Set(view.list(DynamicEnv).map(({ metadata }) => keyOf(metadata)));
  let namespace = 'offshoot';
  while (taken.has(`${namespace}/doctor`)) namespace += '-';
  return namespace;
}
