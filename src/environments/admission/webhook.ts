// The admission webhook of environments: looks up the facts that the rules need, and has its configuration.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { clientConfigOf } from '../../controller/index.ts';
import type {
  AdmissionHandler,
  AdmissionRequest,
  ValidatingWebhookConfiguration,
  WebhookAddress,
} from '../../controller/index.ts';
import { reviewAccess } from '../../kube/index.ts';
import type { Client, Ref, Tables, UserInfo } from '../../kube/index.ts';
import { timestamp } from '../../kube/times.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { requiredPermissions } from './authority.ts';
import type { RequiredPermission, Requester } from './authority.ts';
import { claimOf, conflictsOf, conflictTexts } from '../requests/conflicts.ts';
import { lifetimeWarnings } from '../lifecycle/ttl.ts';
import { shareNamespace } from '../identity/ownership.ts';
import { uniqueVersion } from '../names.ts';
import { defaultSettings } from '../settings.ts';
import type { Settings } from '../settings.ts';
import { validateCreate, validateUpdate } from './validate.ts';
import type { Verdict } from './validate.ts';
import { Environments } from '../tables.ts';

/** Where the webhook is served. */
export const WEBHOOK_PATH = '/validate-riskified-com-v1alpha1-dynamicenv';
/** The name of the webhook's configuration in the cluster. */
export const WEBHOOK_CONFIGURATION = 'offshoot-environments';

/** The configuration that registers this webhook with the API server. */
export function webhookConfiguration(
  address: WebhookAddress,
  bundle: string | undefined,
): ValidatingWebhookConfiguration {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: WEBHOOK_CONFIGURATION, labels: { 'app.kubernetes.io/part-of': 'offshoot' } },
    webhooks: [
      {
        name: 'vdynamicenv.kb.io',
        admissionReviewVersions: ['v1'],
        clientConfig: clientConfigOf(address, WEBHOOK_PATH, bundle),
        failurePolicy: 'Fail',
        sideEffects: 'None',
        rules: [
          {
            apiGroups: ['riskified.com'],
            apiVersions: ['v1alpha1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['dynamicenvs'],
            scope: '*',
          },
        ],
      },
    ],
  };
}

/** Handles admission requests for environments. `tables` must hold DynamicEnvs with their indexes. */
export function environmentAdmission(
  client: Client,
  tables: Tables,
  settings: Partial<Settings> = {},
  now = Date.now,
): AdmissionHandler {
  const all = { ...defaultSettings, ...settings };
  const table = tables.of(Environments);
  return async (request, signal) => {
    const env = request.object as DynamicEnv | null | undefined;
    if (env === null || env === undefined || request.operation === 'DELETE') return { allowed: true };
    const placed = { ...env, metadata: located(env, request) };
    const verdict = await validate(placed, request, signal);
    if (!verdict.allowed) return { allowed: false, status: verdict.status };
    const warnings = isChanged(placed, request)
      ? [...conflictWarnings(placed), ...lifetimeWarnings(placed, now())]
      : [];
    return { allowed: true, ...(warnings.length > 0 && { warnings }) };
  };

  /** Warnings for other environments that ask for the same requests. */
  function conflictWarnings(env: DynamicEnv): readonly string[] {
    const claim = claimOf(created(env), all);
    const others = claim.workloads.flatMap((workload) => table.index('workload', workload));
    const there = [...new Set(others)].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const conflicts = conflictsOf(
      claim,
      there.map((each) => claimOf(each, all)),
    );
    const { texts, more } = conflictTexts(conflicts);
    return [...texts.map((text) => `spec.${text}`), ...(more > 0 ? [`and ${more} more environments like these`] : [])];
  }

  /** An environment that is about to be created gets the current time. */
  function created(env: DynamicEnv): DynamicEnv {
    return { ...env, metadata: { creationTimestamp: timestamp(now()), ...env.metadata } };
  }

  /** Whether the spec of an environment is new or changed. */
  function isChanged({ metadata, spec }: DynamicEnv, { oldObject }: AdmissionRequest): boolean {
    return metadata.deletionTimestamp === undefined && !jsonEqual((oldObject as DynamicEnv | null)?.spec, spec);
  }

  async function validate(env: DynamicEnv, request: AdmissionRequest, signal: AbortSignal): Promise<Verdict> {
    const old = request.operation === 'UPDATE' ? ((request.oldObject as DynamicEnv | null) ?? undefined) : undefined;
    // If the rules refuse it anyway, no requests to the cluster are needed.
    const verdict = old === undefined ? validateCreate(env) : validateUpdate(old, env);
    if (!verdict.allowed || env.metadata.deletionTimestamp !== undefined) return verdict;
    const requester = await requesterOf(client, request.userInfo, requiredPermissions(env, old), signal);
    await table.whenSynced(signal);
    const makersOf = (clone: string): readonly Ref[] => table.index('clone', clone).map(({ metadata }) => metadata);
    if (old !== undefined) return validateUpdate(old, env, { requester, makersOf });
    const sameVersion = table.index('version', uniqueVersion(env.metadata));
    const namesakes = sameVersion.filter((other) => shareNamespace(other, env)).map(({ metadata }) => metadata);
    return validateCreate(env, { requester, namesakes, makersOf });
  }
}

/** With generateName, the object may have no name yet; the request has it. */
function located({ metadata }: DynamicEnv, { name, namespace }: AdmissionRequest): DynamicEnv['metadata'] {
  return { ...metadata, name: metadata.name || (name ?? ''), namespace: metadata.namespace || (namespace ?? '') };
}

/** The user of a request, and which of the required permissions they lack. */
async function requesterOf(
  client: Client,
  user: UserInfo,
  required: readonly RequiredPermission[],
  signal: AbortSignal,
): Promise<Requester> {
  const asking = client.flow('webhook');
  const permissions = new Map(required.map(({ permission }) => [JSON.stringify(permission), permission]));
  const answers = new Map(
    await Promise.all(
      [...permissions].map(
        async ([id, permission]) => [id, await reviewAccess(asking, user, permission, { signal })] as const,
      ),
    ),
  );
  return { name: user.username ?? '', lacks: (permission) => answers.get(JSON.stringify(permission)) === false };
}
