// Adds the token volume and the image pull secrets of its service account to a new pod.
import type { AnyObject, JsonObject, KubeObject } from '../../kube/objects.ts';
import type { Cluster } from '../rest/context.ts';
import { forbidden } from '../rest/fault.ts';
import { generatedName } from '../rest/write/meta.ts';
import type { NewPodRequest } from './new-pods.ts';
import type { Collection, Container, Pod } from '../kinds/types.ts';

interface ServiceAccount extends KubeObject {
  readonly automountServiceAccountToken?: boolean;
  readonly imagePullSecrets?: readonly JsonObject[];
}

const accounts: Collection<ServiceAccount> = 'serviceaccounts';
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const volumePrefix = 'kube-api-access-';

/** Refuses an account that does not exist, except `default`, which may not have been created yet. */
export function withAccount(cluster: Cluster, { target, object }: NewPodRequest): AnyObject {
  const { namespace } = target;
  const { spec } = object as unknown as Pod;
  const name = (spec['serviceAccountName'] as string | undefined) ?? 'default';
  const account = cluster.store.get(accounts, `${namespace}/${name}`)?.object as ServiceAccount | undefined;
  if (account === undefined) {
    if (name === 'default') return object;
    const why = `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
    throw forbidden(target.resource, target.name, why);
  }
  const secrets = spec['imagePullSecrets'] === undefined ? account.imagePullSecrets : undefined;
  const withSecrets = secrets === undefined ? spec : { ...spec, imagePullSecrets: secrets };
  const mounts = spec['automountServiceAccountToken'] ?? account.automountServiceAccountToken ?? true;
  return { ...object, spec: mounts === true ? withTokenVolume(withSecrets) : withSecrets };
}

function withTokenVolume(spec: Pod['spec']): Pod['spec'] {
  if (spec.volumes?.some((volume) => volume.name.startsWith(volumePrefix)) === true) return spec;
  const name = generatedName(volumePrefix);
  let used = false;
  const mounted = (container: Container): Container => {
    const mounts = (container['volumeMounts'] ?? []) as readonly JsonObject[];
    if (mounts.some((mount) => mount['mountPath'] === mountPath)) return container;
    used = true;
    return { ...container, volumeMounts: [...mounts, { name, readOnly: true, mountPath }] };
  };
  // The pod is not validated yet: it may have no containers.
  const containers = (spec.containers ?? []).map(mounted);
  const initContainers = spec.initContainers?.map(mounted);
  if (!used) return spec;
  const sources = [
    { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] },
    },
  ];
  const volume = { name, projected: { sources, defaultMode: 420 } };
  return {
    ...spec,
    containers,
    ...(initContainers !== undefined && { initContainers }),
    volumes: [...(spec.volumes ?? []), volume],
  };
}
