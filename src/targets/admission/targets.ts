// The admission rules for targets, claims and classes. The original has none, so what it accepted is accepted here too:
// only what it could not store or does not know is refused. The rest are warnings.
import type { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import { claimNameOf } from '../claim-ref.ts';
import { InvalidSelectorError, parseDuration, parseSelector } from '../../kube/index.ts';
import { DEVSANDBOX, NAMESPACE_PROVISIONER, REQUESTED_NAMESPACE, SELECTOR, TTL } from '../names.ts';
import { classParameters, namespaceParameters } from '../provisioning/parameters.ts';
import type { Parsed } from '../provisioning/parameters.ts';
import { invalid, isDnsLabel, nameWarnings, refused, warning } from './problem.ts';
import type { FieldPath, Problem } from './problem.ts';

const CLASS_NAME = ['spec', 'deploymentTargetClassName'];
const CLAIM_REF = ['spec', 'claimRef'];
const CREDENTIALS = ['spec', 'kubernetesCredentials'];

/** Problems of a target. */
export function targetProblems({ spec }: DeploymentTarget): readonly Problem[] {
  const { apiURL, clusterCredentialsSecret } = spec.kubernetesCredentials;
  return [
    ...claimRefProblems(spec.claimRef),
    ...nameWarnings(CLASS_NAME, spec.deploymentTargetClassName, 'class'),
    ...nameWarnings([...CREDENTIALS, 'clusterCredentialsSecret'], clusterCredentialsSecret, 'Secret'),
    ...apiUrlWarnings(apiURL),
  ];
}

/** A claim's name, or an object with nothing but its name. No schema can say that. */
function claimRefProblems(claimRef: unknown): Problem[] {
  if (claimRef === undefined || claimRef === null) return [];
  if (typeof claimRef === 'string') return nameWarnings(CLAIM_REF, claimRef, 'claim');
  if (typeof claimRef !== 'object' || Array.isArray(claimRef)) {
    return [
      invalid(CLAIM_REF, claimRef, 'must be the name of a claim: a text, or an object with that text as its name'),
    ];
  }
  const { name, ...others } = claimRef as Readonly<Record<string, unknown>>;
  const at = [...CLAIM_REF, 'name'];
  return [
    ...(typeof name === 'string'
      ? nameWarnings(at, name, 'claim')
      : [invalid(at, name, 'must be the name of a claim')]),
    ...Object.keys(others).map((field) =>
      refused(
        [...CLAIM_REF, field],
        'is not a known field: a claim is referenced by its name, in the namespace of the target',
      ),
    ),
  ];
}

/** Whether an update makes a bound target refer to another claim. If it is cleared, the binder writes it again. */
export function refersElsewhere(target: DeploymentTarget, old: DeploymentTarget): boolean {
  const name = claimNameOf(target);
  return name !== '' && name !== claimNameOf(old) && old.status?.phase === 'Bound';
}

/** The problem of a target that an update takes from the claim that it is bound to. */
export function takenFrom(holder: DeploymentTargetClaim, target: DeploymentTarget): Problem[] {
  const { name, namespace } = holder.metadata;
  const found = claimNameOf(target);
  if (found === name) return [];
  const message = `the target is bound to DeploymentTargetClaim ${namespace}/${name}: delete that claim first, or leave ${JSON.stringify(name)}`;
  return [invalid(CLAIM_REF, target.spec.claimRef, message)];
}

/** Deployers reject other URLs. */
function apiUrlWarnings(apiURL: string): Problem[] {
  if (apiURL === '' || /^https:\/\/[^?&]+$/i.test(apiURL)) return [];
  return [
    warning(
      [...CREDENTIALS, 'apiURL'],
      `${JSON.stringify(apiURL)} is not an https URL without "?" and "&", which Environments require`,
    ),
  ];
}

/** The longest time to live: more is surely a mistake, and much more would overflow a Date. */
const LONGEST_TTL = '36500d';

/** Problems of a claim. */
export function claimProblems({ metadata, spec }: DeploymentTargetClaim): readonly Problem[] {
  return [
    ...ttlProblems(['spec', 'ttl'], spec.ttl),
    ...ttlProblems(['metadata', 'annotations', TTL], metadata.annotations?.[TTL]),
    ...selectorProblems(metadata.annotations?.[SELECTOR]),
    ...requestedNamespaceProblems(metadata.annotations?.[REQUESTED_NAMESPACE]),
    ...nameWarnings(CLASS_NAME, spec.deploymentTargetClassName, 'class'),
    ...nameWarnings(['spec', 'targetName'], spec.targetName, 'target'),
  ];
}

function ttlProblems(at: FieldPath, ttl: string | undefined): Problem[] {
  if (ttl === undefined) return [];
  const ttlMs = parseDuration(ttl) ?? 0;
  if (ttlMs > 0 && ttlMs <= parseDuration(LONGEST_TTL)!) return [];
  const must = `must be a duration greater than zero and at most ${LONGEST_TTL}, such as 90m, 1h30m or 2d`;
  return [invalid(at, ttl, must)];
}

function selectorProblems(text: string | undefined): Problem[] {
  if (text === undefined) return [];
  try {
    parseSelector(text);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidSelectorError)) throw error;
    return [refused(['metadata', 'annotations', SELECTOR], error.message)];
  }
}

function requestedNamespaceProblems(name: string | undefined): Problem[] {
  if (name === undefined || isDnsLabel(name)) return [];
  const must = 'must be a valid namespace name: at most 63 lowercase letters, digits and "-"';
  return [invalid(['metadata', 'annotations', REQUESTED_NAMESPACE], name, must)];
}

/** Problems of a class. Parameters of other provisioners are not checked. */
export function classProblems(ofClass: DeploymentTargetClass): readonly Problem[] {
  const { issues = [] } = parametersOf(ofClass);
  return issues.map(({ path, problem, ...rest }) => {
    const at = ['spec', 'parameters', ...path];
    return 'found' in rest ? invalid(at, rest.found, problem) : refused(at, problem);
  });
}

function parametersOf(ofClass: DeploymentTargetClass): Parsed<unknown> {
  const { provisioner } = ofClass.spec;
  if (provisioner === NAMESPACE_PROVISIONER) return namespaceParameters(ofClass);
  return provisioner === DEVSANDBOX ? classParameters(ofClass) : {};
}
