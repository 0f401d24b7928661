// Every namespace gets the service account `default` and a ConfigMap with the cluster's CA certificate. Secrets of type
// service-account-token get the token of the account that they name.
import { withAnnotations } from '../../../kube/annotations.ts';
import type { KubeObject } from '../../../kube/objects.ts';
import { issuer } from '../../auth/tokens.ts';
import type { TokenKey } from '../../auth/tokens.ts';
import { namespaces } from '../../kinds/types.ts';
import type { Collection, Labels } from '../../kinds/types.ts';
import type { Controller } from '../loop.ts';
import { self } from '../values.ts';
import type { World } from '../world.ts';
import { controllerManager, createOf, deleteOf, nothing, updateOf } from '../writes.ts';
import type { Plan } from '../writes.ts';

/** Credentials of the API server: its CA certificate, and the key that signs tokens. */
export interface Credentials {
  readonly caPem: string;
  readonly tokens: TokenKey;
}

interface ConfigMap extends KubeObject {
  readonly data?: Labels;
}

interface Secret extends KubeObject {
  readonly type?: string;
  readonly data?: Labels;
}

const serviceAccounts: Collection<KubeObject> = 'serviceaccounts';
const configMaps: Collection<ConfigMap> = 'configmaps';
const secrets: Collection<Secret> = 'secrets';
const rootCa = 'kube-root-ca.crt';
const rootCaAnnotations = {
  'kubernetes.io/description':
    'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the ' +
    'internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes ' +
    'clusters.',
};

function isActive(world: World, name: string): boolean {
  const namespace = world.get(namespaces, name);
  return namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;
}

const accountController: Controller = {
  name: 'service-account-controller',
  writer: controllerManager('service-account-controller'),
  on: {
    namespaces: self,
    serviceaccounts: ({ type, stored }) => (type === 'DELETED' ? [stored.object.metadata.namespace!] : []),
  },
  plan: (world, namespace) => {
    if (!isActive(world, namespace) || world.get(serviceAccounts, `${namespace}/default`) !== undefined) return nothing;
    return {
      writes: [createOf({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } })],
    };
  },
};

function rootCaController(caPem: string): Controller {
  const data = { 'ca.crt': caPem };
  return {
    name: 'root-ca-certificate-publisher',
    writer: controllerManager('root-ca-cert-publisher'),
    on: {
      namespaces: self,
      configmaps: ({ stored }) => {
        const { name, namespace } = stored.object.metadata;
        return name === rootCa ? [namespace!] : [];
      },
    },
    plan: (world, namespace) => {
      if (!isActive(world, namespace)) return nothing;
      const found = world.get(configMaps, `${namespace}/${rootCa}`);
      if (found?.data?.['ca.crt'] === caPem) return nothing;
      if (found !== undefined) return { writes: [updateOf({ ...found, data } as ConfigMap)] };
      const metadata = { name: rootCa, namespace, annotations: rootCaAnnotations };
      return { writes: [createOf({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data })] };
    },
  };
}

/** Tokens in Secrets do not expire in Kubernetes; ten years is long enough. */
const tokenSeconds = 10 * 365 * 24 * 3600;
const tokenType = 'kubernetes.io/service-account-token';
const accountName = 'kubernetes.io/service-account.name';
const accountUid = 'kubernetes.io/service-account.uid';

/** Adds the token to a token Secret, or deletes the Secret when its service account does not exist. */
function planTokenSecret(world: World, secret: Secret, credentials: Credentials): Plan {
  const { annotations = {}, namespace = '', deletionTimestamp } = secret.metadata;
  const name = annotations[accountName];
  if (secret.type !== tokenType || name === undefined || deletionTimestamp !== undefined) return nothing;
  const account = world.get(serviceAccounts, `${namespace}/${name}`);
  const uid = account?.metadata.uid;
  if (uid === undefined || (annotations[accountUid] ?? uid) !== uid) return { writes: [deleteOf(secret)] };
  if (secret.data?.['token'] !== undefined && annotations[accountUid] === uid) return nothing;
  const claims = {
    namespace,
    name,
    uid,
    audiences: [issuer],
    expires: Math.floor(world.now() / 1000) + tokenSeconds,
    boundTo: { kind: 'Secret', name: secret.metadata.name, uid: secret.metadata.uid! },
  };
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const data = {
    ...secret.data,
    'ca.crt': base64(credentials.caPem),
    namespace: base64(namespace),
    token: base64(credentials.tokens.issue(claims)),
  };
  return { writes: [updateOf({ ...withAnnotations(secret, { [accountUid]: uid }), data } as Secret)] };
}

function tokenController(credentials: Credentials): Controller {
  return {
    name: 'tokens-controller',
    writer: controllerManager('tokens-controller'),
    on: {
      secrets: ({ type, stored }) => (type !== 'DELETED' && stored.object['type'] === tokenType ? [stored.key] : []),
      serviceaccounts: ({ type, stored }, world) => {
        if (type === 'MODIFIED') return [];
        const { name, namespace } = stored.object.metadata;
        const named = world.list(secrets, namespace).filter((one) => one.metadata.annotations?.[accountName] === name);
        return named.map((secret) => `${namespace}/${secret.metadata.name}`);
      },
    },
    plan: (world, key) => {
      const secret = world.get(secrets, key);
      return secret === undefined ? nothing : planTokenSecret(world, secret, credentials);
    },
  };
}

/** The controllers for service accounts. Without credentials, no CA certificates and no tokens are written. */
export function accountControllers(credentials: Credentials | undefined): readonly Controller[] {
  if (credentials === undefined) return [accountController];
  return [accountController, rootCaController(credentials.caPem), tokenController(credentials)];
}
