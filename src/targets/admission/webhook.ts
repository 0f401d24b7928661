// The webhook of the claim system: how the API server finds it, and how it answers.
import { clientConfigOf } from '../../controller/index.ts';
import type {
  AdmissionHandler,
  AdmissionResponse,
  ValidatingWebhookConfiguration,
  WebhookAddress,
} from '../../controller/index.ts';
import { DeploymentTarget } from '../../api/targets.ts';
import type { KubeObject, Status, Tables } from '../../kube/index.ts';
import { Claims, holderIn } from '../world.ts';
import { problemsOf } from './index.ts';
import type { Problem } from './index.ts';
import { pathOf } from './problem.ts';
import { refersElsewhere, takenFrom } from './targets.ts';

/** The name of the webhook's configuration in the cluster. */
export const TARGETS_WEBHOOK_CONFIGURATION = 'offshoot-targets';

const ENVIRONMENTS_PATH = '/validate-appstudio-redhat-com-v1alpha1-environment';
const TARGETS_PATH = '/validate-appstudio-redhat-com-v1alpha1-deploymenttarget';
/** Where the webhook is served. */
export const TARGETS_WEBHOOK_PATHS = [ENVIRONMENTS_PATH, TARGETS_PATH];

/**
 * The configuration that registers this webhook with the API server.
 *
 * Environments are refused while the webhook is down: that is contract, and only people write their spec. Targets and
 * claims are written by controllers, which must keep working, so they are admitted unchecked: controllers cope with
 * them.
 */
export function targetsWebhookConfiguration(
  address: WebhookAddress,
  bundle: string | undefined,
): ValidatingWebhookConfiguration {
  const webhook = (path: string, resources: readonly string[]): object => ({
    admissionReviewVersions: ['v1'],
    clientConfig: clientConfigOf(address, path, bundle),
    sideEffects: 'None',
    rules: [
      {
        apiGroups: ['appstudio.redhat.com'],
        apiVersions: ['v1alpha1'],
        operations: ['CREATE', 'UPDATE'],
        resources,
        scope: '*',
      },
    ],
  });
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: TARGETS_WEBHOOK_CONFIGURATION, labels: { 'app.kubernetes.io/part-of': 'offshoot' } },
    webhooks: [
      {
        name: 'venvironment.kb.io',
        ...webhook(ENVIRONMENTS_PATH, ['environments']),
        failurePolicy: 'Fail',
        matchConditions: [SPEC_IS_WRITTEN],
      },
      {
        name: 'vdeploymenttarget.offshoot.dev',
        ...webhook(TARGETS_PATH, ['deploymenttargets', 'deploymenttargetclaims', 'deploymenttargetclasses']),
        failurePolicy: 'Ignore',
        // A response takes milliseconds: waiting longer is pointless and only delays controllers.
        timeoutSeconds: 5,
      },
    ],
  };
}

/** Labels, finalizers and objects that are being deleted need no check, so they can be written while we are down. */
const SPEC_IS_WRITTEN = {
  name: 'spec-is-written',
  expression:
    "request.operation == 'CREATE' || (!has(object.metadata.deletionTimestamp) && (!has(oldObject.spec) || object.spec != oldObject.spec))",
};

/** Handles admission requests for all kinds of the claim system. `tables` must hold claims with their indexes. */
export function targetsAdmission(tables: Tables): AdmissionHandler {
  return async (request, signal) => {
    const { object, oldObject, operation, name } = request;
    if (!object) return { allowed: true };
    // With generateName, the object may have no name yet; the request has it.
    const named = { ...object, metadata: { ...object.metadata, name: object.metadata.name || (name ?? '') } };
    const old = operation === 'UPDATE' ? (oldObject ?? undefined) : undefined;
    const problems = problemsOf(named, old);
    const isRefused = problems.some(({ isWarning }) => !isWarning);
    return answer(named, isRefused ? problems : [...problems, ...(await claimProblem(tables, named, old, signal))]);
  };
}

/** The problem that depends on another object: the claim of a target. The other rules are checked before. */
async function claimProblem(
  tables: Tables,
  object: KubeObject,
  old: KubeObject | undefined,
  signal: AbortSignal,
): Promise<readonly Problem[]> {
  if (object.kind !== DeploymentTarget.kind || old === undefined) return [];
  const [target, before] = [object as DeploymentTarget, old as DeploymentTarget];
  if (target.metadata.deletionTimestamp !== undefined || !refersElsewhere(target, before)) return [];
  const claims = tables.of(Claims);
  await claims.whenSynced(signal);
  const holder = holderIn((index, key) => claims.index(index, key), before);
  return holder === undefined ? [] : takenFrom(holder, target);
}

function answer(named: KubeObject, problems: readonly Problem[]): AdmissionResponse {
  const refusals = problems.filter(({ isWarning }) => !isWarning);
  const warnings = problems.filter(({ isWarning }) => isWarning).map(({ message }) => message);
  return {
    allowed: refusals.length === 0,
    ...(refusals.length > 0 && { status: statusOf(named, refusals) }),
    ...(warnings.length > 0 && { warnings }),
  };
}

/** kubectl prints the causes, other clients the message. */
function statusOf({ kind, apiVersion, metadata: { name } }: KubeObject, refusals: readonly Problem[]): Status {
  const texts = refusals.map(({ message }) => message);
  // Contract messages stand alone.
  if (kind === 'Environment') return { status: 'Failure', code: 403, reason: 'Forbidden', message: texts.join(', ') };
  const group = apiVersion.split('/')[0]!;
  const all = texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
  const message = `${kind}.${group} ${JSON.stringify(name)} is invalid: ${all}`;
  const causes = refusals.map(({ at, message: text }) => {
    const field = pathOf(at);
    return { reason: 'FieldValueInvalid', field, message: text.slice(`${field}: `.length) };
  });
  return { status: 'Failure', code: 422, reason: 'Invalid', message, details: { name, group, kind, causes } };
}
