// Environments: each gets a managed environment for the deployer, with credentials from its claim's target or its own.
import { ManagedEnvironment } from '../../api/spaces.ts';
import { Environment, DeploymentTargetClaim } from '../../api/targets.ts';
import type { DeploymentTarget } from '../../api/targets.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, PlannedEvent, View } from '../../controller/index.ts';
import { edit, make, own, remove } from '../../kube/index.ts';
import type { OwnerReference, Step } from '../../kube/index.ts';
import { environmentStatus, isReportedResolved } from './conditions.ts';
import type { EnvironmentProblem, Unbound } from './conditions.ts';
import { ARRIVAL_MS } from '../arrival.ts';
import { conflict } from '../binding/match.ts';
import { ENVIRONMENT_SECRET, MANAGED_SECRET_TYPE } from '../names.ts';
import { Namespace, Secret } from '../objects.ts';
import type { Settings } from '../settings.ts';
import { targetNamed, targetsReferringTo } from '../world.ts';

/**
 * How long a solved problem is reported as resolved. Clients may wait for that, and they may also expect that an
 * environment without a problem has no conditions. So the conditions are removed in the end: they depend on what exists
 * now, not on what was created first.
 */
const RESOLVED_MS = 5 * 60_000;
const NOT_FOUND_REASONS: ReadonlySet<EnvironmentProblem['reason']> = new Set([
  'DeploymentTargetClaimNotFound',
  'DeploymentTargetNotFound',
  'SecretNotFound',
]);

export function environmentController(settings: Settings): ControllerDefinition {
  return defineController<Environment>({
    name: 'target-environments',
    kind: Environment,
    plan: (view, environment) => planEnvironment(view, environment, settings),
  });
}

/** Plans one environment. */
export function planEnvironment(view: View, environment: Environment, settings: Settings): Plan {
  const home = view.get(Namespace, { name: environment.metadata.namespace! });
  const isEnding =
    environment.metadata.deletionTimestamp !== undefined || home?.metadata.deletionTimestamp !== undefined;
  if (isEnding) return {};
  const outcome = planDestination(view, environment, destinationOf(view, environment), settings);
  if (outcome === undefined) return {};
  const { problem, unbound, steps } = outcome;
  if (problem !== undefined && NOT_FOUND_REASONS.has(problem.reason)) {
    const leftMs = ARRIVAL_MS - view.heldFor(problem.message);
    if (leftMs > 0) return { requeueAfterMs: leftMs };
  }
  const resolvedMs = problem === undefined ? resolvedForMs(view, environment) : undefined;
  const found = { problem, ...(settings.unboundCondition && { unbound }), isOver: resolvedMs === 0 };
  const status = environmentStatus(environment, found, view.now());
  return {
    steps,
    ...(status && { status }),
    events: eventsOf(environment, problem),
    ...(resolvedMs && { requeueAfterMs: resolvedMs }),
  };
}

/** How much longer a solved problem is reported as resolved; undefined if none is. */
function resolvedForMs(view: View, environment: Environment): number | undefined {
  if (!isReportedResolved(environment)) return undefined;
  return Math.max(0, RESOLVED_MS - view.heldFor('a problem is resolved'));
}

/** Where an environment deploys to: a cluster, nowhere, or why it is not known. */
interface Destination {
  readonly spec?: ManagedEnvironment['spec'];
  readonly byClaim?: boolean;
  /** Whether its target is being deleted: its credentials go first, and the claim soon loses it. */
  readonly isEnding?: boolean;
  readonly unbound?: Unbound;
  readonly problem?: EnvironmentProblem;
}

function destinationOf(view: View, environment: Environment): Destination {
  const { configuration, unstableConfigurationFields: direct } = environment.spec;
  const claimName = configuration?.target?.deploymentTargetClaim.claimName ?? '';
  if (claimName !== '' && direct !== undefined) {
    return wrong(
      'InvalidEnvironment',
      'Environment is invalid since it cannot have both DeploymentTargetClaim and credentials configuration set',
    );
  }
  if (claimName !== '') return destinationOfClaim(view, environment, claimName);
  const credentials = direct?.kubernetesCredentials;
  if (credentials === undefined) return {};
  const { namespaces = [], clusterResources } = credentials;
  return {
    spec: {
      apiURL: credentials.apiURL,
      credentialsSecret: credentials.clusterCredentialsSecret,
      allowInsecureSkipTLSVerify: credentials.allowInsecureSkipTLSVerify,
      ...(clusterResources && { clusterResources }),
      ...(namespaces.length > 0 && { namespaces }),
    },
  };
}

function wrong(reason: EnvironmentProblem['reason'], message: string): Destination {
  return { problem: { reason, message } };
}

function destinationOfClaim(view: View, environment: Environment, name: string): Destination {
  const claim = view.get(DeploymentTargetClaim, { name, namespace: environment.metadata.namespace! });
  if (claim === undefined) {
    return wrong(
      'DeploymentTargetClaimNotFound',
      'DeploymentTargetClaim not found while generating the desired Environment resource',
    );
  }
  if (claim.status?.phase !== 'Bound') {
    return { unbound: claim.status?.phase === 'Lost' ? 'DeploymentTargetClaimLost' : 'DeploymentTargetClaimPending' };
  }
  const target = boundTarget(view, claim);
  if (typeof target === 'string') return wrong('DeploymentTargetNotFound', target);
  const { defaultNamespace, apiURL, clusterCredentialsSecret, allowInsecureSkipTLSVerify } =
    target.spec.kubernetesCredentials;
  return {
    byClaim: true,
    isEnding: target.metadata.deletionTimestamp !== undefined,
    spec: {
      apiURL,
      credentialsSecret: clusterCredentialsSecret,
      allowInsecureSkipTLSVerify: allowInsecureSkipTLSVerify ?? false,
      ...(defaultNamespace !== '' && { namespaces: [defaultNamespace] }),
    },
  };
}

/** The target of a bound claim, or why there is none. */
function boundTarget(view: View, claim: DeploymentTargetClaim): DeploymentTarget | string {
  if ((claim.spec.targetName ?? '') !== '') {
    const named = targetNamed(view, claim);
    if (named === undefined) return 'DeploymentTargetClaim references a DeploymentTarget that does not exist';
    const isOthers = conflict(claim, named) !== undefined;
    return isOthers ? 'Unable to find the DeploymentTarget for DeploymentTargetClaim' : named;
  }
  const [first, second] = targetsReferringTo(view, claim);
  if (first === undefined) return 'DeploymentTarget not found for DeploymentTargetClaim';
  return second === undefined ? first : 'Unable to find the DeploymentTarget for DeploymentTargetClaim';
}

interface Outcome {
  readonly steps: readonly Step[];
  readonly problem?: EnvironmentProblem | undefined;
  readonly unbound?: Unbound | undefined;
}

/** Plans the objects of an environment; undefined while its target is being deleted, which changes nothing yet. */
function planDestination(
  view: View,
  environment: Environment,
  destination: Destination,
  settings: Settings,
): Outcome | undefined {
  const { spec, unbound, problem } = destination;
  const copy = copyOf(view, environment);
  if (problem !== undefined) {
    // The credentials are deleted with the claim, whichever of the two is seen to be gone first.
    const isOver = problem.reason === 'DeploymentTargetClaimNotFound';
    return { problem, steps: isOver ? leftovers(environment, undefined, copy) : [] };
  }
  const managed = view.get(ManagedEnvironment, managedRef(environment));
  if (unbound !== undefined) {
    // The workloads there must not be removed because the target is missing for a while.
    return { unbound, steps: settings.removeUnbound ? leftovers(environment, managed, copy) : [] };
  }
  if (spec === undefined) return { steps: leftovers(environment, managed, copy) };

  const { namespace } = environment.metadata;
  const source = view.get(Secret, { name: spec.credentialsSecret, namespace: namespace! });
  if (source === undefined && destination.isEnding) return undefined;
  if (source === undefined) {
    const message = `the secret ${spec.credentialsSecret} referenced by the Environment resource was not found`;
    return { problem: { reason: 'SecretNotFound', message }, steps: leftovers(environment, undefined, copy) };
  }
  if (!destination.byClaim || source.type === MANAGED_SECRET_TYPE) {
    return { steps: [managedStep(environment, managed, spec), ...leftovers(environment, undefined, copy)] };
  }
  if (copy !== undefined && !isCopyFor(copy, environment)) {
    const message = `the secret ${copy.metadata.name} exists already and was not created for this Environment: delete it or rename it`;
    return { problem: { reason: 'InvalidEnvironment', message }, steps: [] };
  }
  const credentialsSecret = copyName(environment);
  return {
    steps: [
      own(Secret, secretCopy(environment, source)),
      managedStep(environment, managed, { ...spec, credentialsSecret }),
    ],
  };
}

/** The name of an environment's managed environment. */
export function managedName(environment: string): string {
  return `managed-environment-${environment}`;
}

function managedRef({ metadata }: Environment): { name: string; namespace: string } {
  return { name: managedName(metadata.name), namespace: metadata.namespace! };
}

function copyName({ metadata }: Environment): string {
  return `managed-environment-secret-${metadata.name}`;
}

function copyOf(view: View, environment: Environment): Secret | undefined {
  return view.get(Secret, { name: copyName(environment), namespace: environment.metadata.namespace! });
}

function isCopyFor({ metadata, type }: Secret, environment: Environment): boolean {
  return type === MANAGED_SECRET_TYPE && metadata.labels?.[ENVIRONMENT_SECRET] === environment.metadata.name;
}

/** Deletes what was made for an environment and is no longer needed. */
function leftovers(
  environment: Environment,
  managed: ManagedEnvironment | undefined,
  copy: Secret | undefined,
): Step[] {
  const steps: Step[] = [];
  if (managed?.metadata.ownerReferences?.some((owner) => isOwner(owner, environment))) {
    steps.push(remove(ManagedEnvironment, managed));
  }
  if (copy !== undefined && isCopyFor(copy, environment)) steps.push(remove(Secret, copy));
  return steps;
}

/** The API versions in owner references to environments: the right one, and one that older objects have by mistake. */
export const OWNER_VERSIONS: readonly string[] = [
  'appstudio.redhat.com/v1alpha1',
  'managed-gitops.redhat.com/v1alpha1',
];

function isOwner({ apiVersion, kind, name }: OwnerReference, { metadata }: Environment): boolean {
  return kind === 'Environment' && OWNER_VERSIONS.includes(apiVersion) && name === metadata.name;
}

function ownerOf({ metadata }: Environment): OwnerReference {
  return { apiVersion: OWNER_VERSIONS[0]!, kind: 'Environment', name: metadata.name, uid: metadata.uid! };
}

function secretCopy(environment: Environment, source: Secret): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: copyName(environment),
      namespace: environment.metadata.namespace!,
      labels: { [ENVIRONMENT_SECRET]: environment.metadata.name },
      ownerReferences: [{ ...ownerOf(environment), controller: true, blockOwnerDeletion: true }],
    },
    type: MANAGED_SECRET_TYPE,
    data: source.data ?? {},
  };
}

/** Makes the managed environment exactly as the environment says, whoever wrote it before. */
function managedStep(
  environment: Environment,
  managed: ManagedEnvironment | undefined,
  spec: ManagedEnvironment['spec'],
): Step {
  const owner = ownerOf(environment);
  if (managed === undefined) {
    return make(ManagedEnvironment, {
      apiVersion: 'managed-gitops.redhat.com/v1alpha1',
      kind: 'GitOpsDeploymentManagedEnvironment',
      metadata: { ...managedRef(environment), ownerReferences: [owner] },
      spec,
    });
  }
  const others = (managed.metadata.ownerReferences ?? []).filter((each) => !isOwner(each, environment));
  const metadata = { ...managed.metadata, ownerReferences: [...others, owner] };
  return edit(ManagedEnvironment, managed, { ...managed, metadata, spec });
}

function eventsOf(environment: Environment, problem: EnvironmentProblem | undefined): PlannedEvent[] {
  const before = environment.status?.conditions?.find(({ type }) => type === 'Reconciled');
  if (problem === undefined || (before?.reason === problem.reason && before.message === problem.message)) return [];
  return [{ type: 'Warning', reason: problem.reason, note: problem.message }];
}
