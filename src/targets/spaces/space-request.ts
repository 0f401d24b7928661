// Space requests: each gets a space below that of its namespace, and Secrets with access to the namespaces of the
// space.
import { Space, SpaceRequest } from '../../api/spaces.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { edit, make, remove, token, withAnnotations } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { freshForMs, isIssuedByUs, issuedFor } from '../credentials.ts';
import { digest, joinName, LAST_CLAIM, REQUESTED_NAMESPACE, TOOLCHAIN_FINALIZER } from '../names.ts';
import { Namespace, Secret, ServiceAccount } from '../objects.ts';
import type { Settings } from '../settings.ts';
import { isEnding } from '../provisioning/eligible.ts';
import { readyOf, report } from './conditions.ts';
import type { Readiness } from './conditions.ts';
import { SUBSPACE_DELETED } from './deleted.ts';
import { requestFailure } from './failure.ts';
import {
  PARENT_LABEL,
  PROVISIONED_NAMESPACE_LABEL,
  REQUEST_LABEL,
  REQUEST_NAMESPACE_LABEL,
  SPACE_LABEL,
  STATE_LABEL,
  subspaceName,
} from './names.ts';
import { tierNamed, tierNotFound } from './tiers.ts';
import { spacesFor } from './world.ts';

/** How long the deletion of a space may take. */
const STUCK_MS = 120_000;

export function spaceRequests(settings: Settings): ControllerDefinition {
  return defineController<SpaceRequest>({
    name: 'space-requests',
    kind: SpaceRequest,
    finalizers: [TOOLCHAIN_FINALIZER],
    plan: (view, request) => planSpaceRequest(view, request, settings),
    failed: (request, failure, now) => report({ now: () => now }, request, requestFailure(request, failure)),
  });
}

/** Plans one space request. */
export function planSpaceRequest(view: View, request: SpaceRequest, settings: Settings): Plan {
  if (request.metadata.deletionTimestamp !== undefined) return planDeletion(view, request);
  if (isEnding(view, request.metadata.namespace)) return {};
  const failed = (message: string): Plan => report(view, request, { reason: 'UnableToProvision', message });

  const parent = parentOf(view, request, settings);
  if (typeof parent === 'string') return failed(parent);
  const { tierName } = request.spec;
  if (tierName === '') return failed('tierName cannot be blank');
  if (tierNamed(tierName, settings.tiers) === undefined) return failed(tierNotFound(tierName));
  const spaces = spacesFor(view, request);
  if (spaces.length > 1) {
    const { name, namespace } = request.metadata;
    return failed(
      `Expected 1 matching subspace for spaceRequest ${name} in namespace ${namespace}, found ${spaces.length}`,
    );
  }
  const [space] = spaces;
  if (space === undefined) {
    if (request.status?.targetClusterURL !== undefined) return failed(SUBSPACE_DELETED);
    const made = spaceFor(request, parent, freeName(view, request, parent));
    return { ...report(view, request, { reason: 'Provisioning' }), steps: [make(Space, made)] };
  }
  if (space.metadata.deletionTimestamp !== undefined) {
    return failed('cannot update subSpace because it is currently being deleted');
  }
  return provisioned(view, request, space, [syncStep(space, request)], settings);
}

/** The parent of the space of a request. The root space need not exist. */
interface Parent {
  readonly name: string;
  readonly namespace: string;
  readonly isSubspace: boolean;
  readonly targetCluster: string | undefined;
}

/** The parent of a request's space, or why there is none. */
function parentOf(view: View, request: SpaceRequest, settings: Settings): Parent | string {
  const home = request.metadata.namespace!;
  const namespace = view.get(Namespace, { name: home });
  if (namespace === undefined) return `unable to get namespace: namespaces "${home}" not found`;
  const label = namespace.metadata.labels?.[SPACE_LABEL];
  const name = label ?? settings.rootSpace;
  if (name === '') return `unable to find space label ${SPACE_LABEL} on namespace ${home}`;
  const space = view.get(Space, { name, namespace: settings.hostNamespace });
  if (space?.metadata.deletionTimestamp !== undefined) return 'parentSpace is being deleted';
  if (space === undefined && label !== undefined) {
    return `unable to get parentSpace: spaces.toolchain.dev.openshift.com "${name}" not found`;
  }
  return {
    name,
    namespace: settings.hostNamespace,
    isSubspace: (space?.spec.parentSpace ?? '') !== '',
    targetCluster: space === undefined ? settings.cluster.name : space.spec.targetCluster,
  };
}

/** The name for a new space. Two requests whose uids begin alike must not get the same name. */
function freeName(view: View, request: SpaceRequest, parent: Parent): string {
  const short = subspaceName(parent, request);
  const isTaken = view.get(Space, { name: short, namespace: parent.namespace }) !== undefined;
  return isTaken ? subspaceName(parent, request, 13) : short;
}

function spaceFor(request: SpaceRequest, parent: Parent, name: string): Space {
  const { tierName, targetClusterRoles = [], disableInheritance } = request.spec;
  const requested = request.metadata.annotations?.[REQUESTED_NAMESPACE];
  const targetCluster = targetClusterRoles.length > 0 ? undefined : parent.targetCluster || undefined;
  return {
    apiVersion: 'toolchain.dev.openshift.com/v1alpha1',
    kind: 'Space',
    metadata: {
      name,
      namespace: parent.namespace,
      // The space controller would set the finalizer and the state label: this saves two writes.
      finalizers: [TOOLCHAIN_FINALIZER],
      labels: {
        [REQUEST_LABEL]: request.metadata.name,
        [REQUEST_NAMESPACE_LABEL]: request.metadata.namespace!,
        [PARENT_LABEL]: parent.name,
        ...(targetCluster !== undefined && { [STATE_LABEL]: 'cluster-assigned' }),
      },
      ...(requested !== undefined && { annotations: { [REQUESTED_NAMESPACE]: requested } }),
    },
    spec: {
      tierName,
      parentSpace: parent.name,
      // The completion controller sets the missing fields.
      ...(targetClusterRoles.length > 0 && { targetClusterRoles }),
      ...(targetCluster !== undefined && { targetCluster }),
      ...(disableInheritance !== undefined && { disableInheritance }),
    },
  };
}

/**
 * Updates the space with the tier, the roles and the last claim of its request. An empty list of roles and none are the
 * same.
 */
function syncStep(space: Space, { metadata: { annotations }, spec }: SpaceRequest): Step {
  const { targetClusterRoles: before = [] } = space.spec;
  const { tierName, targetClusterRoles: roles = [] } = spec;
  const isSame = before.length === roles.length && roles.every((role, i) => role === before[i]);
  const next = { ...space.spec, tierName, ...(!isSame && { targetClusterRoles: roles }) };
  const lastClaim = annotations?.[LAST_CLAIM];
  const marked = lastClaim === undefined ? space : withAnnotations(space, { [LAST_CLAIM]: lastClaim });
  return edit(Space, space, { ...marked, spec: next });
}

/** Gives access to the namespaces of a space, and then passes its condition on. */
function provisioned(view: View, request: SpaceRequest, space: Space, steps: Step[], settings: Settings): Plan {
  const namespaces = (space.status?.provisionedNamespaces ?? []).flatMap(({ name = '' }) => (name === '' ? [] : name));
  const target = space.status?.targetCluster ?? '';
  if (namespaces.length > 0 && target !== settings.cluster.name) {
    const message = `unable to find target cluster with name: ${target}`;
    return { ...report(view, request, { reason: 'UnableToProvision', message }), steps };
  }
  const access = namespaces.map((name) => accessTo(view, request, name, settings));
  const ready = readyOf(space);
  const isWaiting = access.some(({ secretRef }) => secretRef === undefined);
  const isProvisioning = ready === undefined || (ready.status === 'True' && isWaiting);
  const readiness = isProvisioning ? ({ reason: 'Provisioning' } as const) : readinessOf(ready);
  const namespaceAccess = access.map(({ name, secretRef = '' }) => ({ name, secretRef }));
  const status = {
    ...request.status,
    // The URL of the cluster is only useful together with namespaces.
    ...(target !== '' && namespaces.length > 0 && { targetClusterURL: settings.cluster.server }),
    ...(!isWaiting && access.length > 0 && { namespaceAccess }),
  };
  const freshFor = Math.min(...access.map(({ freshForMs }) => freshForMs));
  return {
    ...report(view, request, readiness, status),
    steps: [...steps, ...access.flatMap(({ steps }) => steps)],
    ...(Number.isFinite(freshFor) && { requeueAfterMs: freshFor }),
  };
}

function readinessOf({ status, reason, message }: NonNullable<ReturnType<typeof readyOf>>): Readiness {
  if (status === 'True') return { reason: 'Provisioned' };
  // The space of another operator may have any reason.
  return { reason: (reason as Readiness['reason']) || 'Provisioning', ...(message && { message }) };
}

interface Access {
  readonly name: string;
  /** Undefined while no Secret can be made yet. */
  readonly secretRef: string | undefined;
  readonly steps: readonly Step[];
  readonly freshForMs: number;
}

/** The Secret for one namespace. Its name in the status is kept, whatever happened to the Secret. */
function accessTo(view: View, request: SpaceRequest, name: string, settings: Settings): Access {
  const account = tierNamed(request.spec.tierName, settings.tiers)!.serviceAccount;
  if (account === undefined) return { name, secretRef: '', steps: [], freshForMs: Infinity };
  const { namespace } = request.metadata;
  const known = request.status?.namespaceAccess?.find((each) => each.name === name)?.secretRef;
  const secretRef = known || joinName(request.metadata.name, digest(name));
  const secret = view.get(Secret, { name: secretRef, namespace });
  // Credentials that somebody else issued are left alone.
  const isOthers = secret?.data?.['kubeconfig'] !== undefined && !isIssuedByUs(secret);
  if (isOthers) return { name, secretRef, steps: [], freshForMs: Infinity };
  const serviceAccount = { name: account, namespace: name };
  const live = view.get(ServiceAccount, serviceAccount);
  const isOutdated = live?.metadata.annotations?.[LAST_CLAIM] !== request.metadata.annotations?.[LAST_CLAIM];
  if (live === undefined || isOutdated) return { name, secretRef: undefined, steps: [], freshForMs: Infinity };
  const issued = issuedFor(live, settings.cluster);
  const fresh = secret === undefined ? 0 : freshForMs(secret, issued, view.now());
  if (fresh > 0) return { name, secretRef, steps: [], freshForMs: fresh };
  const step = token(Secret, secretFor(request, secretRef, name, issued), {
    serviceAccount,
    expirationSeconds: Math.floor(settings.tokenLifetimeMs / 1000),
    cluster: settings.cluster,
  });
  return { name, secretRef, steps: [step], freshForMs: settings.tokenLifetimeMs / 2 };
}

function secretFor(
  request: SpaceRequest,
  name: string,
  access: string,
  annotations: Readonly<Record<string, string>>,
): Secret {
  const owner = {
    apiVersion: 'toolchain.dev.openshift.com/v1alpha1',
    kind: 'SpaceRequest',
    name: request.metadata.name,
    uid: request.metadata.uid!,
    controller: true,
    blockOwnerDeletion: true,
  };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace: request.metadata.namespace,
      labels: { [REQUEST_LABEL]: request.metadata.name, [PROVISIONED_NAMESPACE_LABEL]: access },
      annotations,
      ownerReferences: [owner],
    },
    type: 'Opaque',
  };
}

/** Deletes the space first; the request reports the progress. */
function planDeletion(view: View, request: SpaceRequest): Plan {
  const spaces = spacesFor(view, request);
  if (spaces.length === 0) return { finished: true };
  const steps = spaces
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((space) => remove(Space, space));
  const since = Math.min(...spaces.map(({ metadata }) => Date.parse(metadata.deletionTimestamp ?? '') || view.now()));
  const leftMs = since + STUCK_MS - view.now();
  if (leftMs < 0) {
    const message = 'subSpace deletion has not completed in over 2 minutes';
    return { ...report(view, request, { reason: 'UnableToTerminate', message }), steps };
  }
  return { ...report(view, request, { reason: 'Terminating' }), steps, requeueAfterMs: leftMs + 1 };
}
