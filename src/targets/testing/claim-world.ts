// A claim and the objects that belong to it, for the tests of descriptions.
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import type { Condition } from '../../controller/conditions.ts';
import { Event } from '../../kube/events.ts';
import type { Kind, KubeObject, ObjectMeta } from '../../kube/objects.ts';
import { Namespace, Secret } from '../objects.ts';
import type { ClaimWorld } from '../describe/world.ts';

type JsonObject = Readonly<Record<string, unknown>>;

function made<T extends KubeObject>(
  kind: Kind<T>,
  name: string,
  fields: JsonObject,
  metadata: Partial<ObjectMeta> = {},
): T {
  return {
    apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
    kind: kind.kind,
    metadata: { name, ...(kind.namespaced && { namespace: 'team' }), uid: `uid-of-${name}`, ...metadata },
    ...fields,
  } as unknown as T;
}

/** A condition with a fixed time. */
export function condition(type: string, status: Condition['status'], reason: string, message = ''): Condition {
  return { type, status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' };
}

export function claim(spec: JsonObject, phase?: string, conditions: readonly Condition[] = [], metadata = {}) {
  const status = phase === undefined ? {} : { status: { phase, conditions } };
  return made(
    DeploymentTargetClaim,
    'staging',
    { spec: { deploymentTargetClassName: 'sandbox', ...spec }, ...status },
    metadata,
  );
}

export function sandboxClass(provisioner = 'appstudio.redhat.com/devsandbox') {
  return made(DeploymentTargetClass, 'sandbox', { spec: { provisioner, reclaimPolicy: 'Delete' } });
}

export function target(phase?: string, metadata: Partial<ObjectMeta> = {}, credentials: JsonObject = {}) {
  const kubernetesCredentials = {
    defaultNamespace: 'place',
    apiURL: 'https://api.test',
    clusterCredentialsSecret: 'access',
    ...credentials,
  };
  const spec = { deploymentTargetClassName: 'sandbox', kubernetesCredentials, claimRef: 'staging' };
  return made(DeploymentTarget, 'staging-dt', { spec, ...(phase !== undefined && { status: { phase } }) }, metadata);
}

/** A space request; with the status `True` it gives access to the namespace `place`. */
export function request(status: Condition['status'], reason: string, message = '', metadata: Partial<ObjectMeta> = {}) {
  const access = { targetClusterURL: 'https://api.test', namespaceAccess: [{ name: 'place', secretRef: 'access' }] };
  return made(
    SpaceRequest,
    'staging-1',
    {
      spec: { tierName: 'appstudio-env' },
      status: { ...(status === 'True' && access), conditions: [condition('Ready', status, reason, message)] },
    },
    metadata,
  );
}

export function namespaces(found: 'hidden' | { phase: string; conditions?: readonly Condition[] }) {
  return new Map([['place', found === 'hidden' ? found : made(Namespace, 'place', { status: found })]]);
}

export function secrets(found: 'hidden' | Readonly<Record<string, string>>) {
  return new Map([['access', found === 'hidden' ? found : made(Secret, 'access', { data: found })]]);
}

export function event(about: KubeObject, type: Event['type'], reason: string, note: string): Event {
  const regarding = { apiVersion: about.apiVersion, kind: about.kind, name: about.metadata.name };
  return made(Event, reason, { eventTime: '2026-01-01T00:00:00Z', type, reason, note, regarding });
}

/** A bound claim, and all objects that belong to it. */
export function boundClaim() {
  const bound = claim({ targetName: 'staging-dt' }, 'Bound');
  const made = request('True', 'Provisioned', '', {
    labels: { 'appstudio.openshift.io/dtc': 'staging', 'appstudio.openshift.io/dt': 'staging-dt' },
  });
  const [place, access] = [namespaces({ phase: 'Active' }).get('place'), secrets({ kubeconfig: 'eA==' }).get('access')];
  const reported = event(bound, 'Normal', 'Bound', 'the claim is bound');
  const all = [bound, target('Bound'), made, sandboxClass(), place as KubeObject, access as KubeObject, reported];
  return { bound, made, place: place as KubeObject, all };
}

/** The world of a claim; what is not given does not exist. */
export function world(of: Partial<ClaimWorld> & Pick<ClaimWorld, 'claim'>): ClaimWorld {
  return {
    ofClass: undefined,
    target: undefined,
    requests: [],
    namespaces: new Map(),
    secrets: new Map(),
    events: [],
    ...of,
  };
}
