// The two halves of a context in a kubeconfig: its cluster and its user. Called by kubeconfig.ts.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { sep } from 'node:path';
import type { ConnectConfig, ExecConfig, Impersonation } from './config.ts';
import type { KubeconfigFields } from './kubeconfig-fields.ts';

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** The address of the cluster and the CA to trust. */
export function clusterPart(cluster: KubeconfigFields): ConnectConfig {
  const part: Writable<ConnectConfig> = { server: url(cluster, 'server', ['http:', 'https:']) };
  const caPem = cluster.dataOrFile('certificate-authority');
  if (caPem !== undefined) {
    readable(cluster, 'certificate-authority', 'a certificate', () => new X509Certificate(caPem));
    part.caPem = caPem;
  }
  if (cluster.boolean('insecure-skip-tls-verify')) {
    if (caPem !== undefined)
      throw cluster.error('insecure-skip-tls-verify', 'cannot be combined with certificate-authority');
    part.insecureSkipTlsVerify = true;
  }
  const tlsServerName = cluster.string('tls-server-name');
  if (tlsServerName) part.tlsServerName = tlsServerName;
  if (cluster.string('proxy-url')) part.proxyUrl = url(cluster, 'proxy-url', ['http:', 'https:']);
  return part;
}

/** The credentials of the user. */
export function userPart(user: KubeconfigFields, cluster: ConnectConfig): Partial<ConnectConfig> {
  const part: Writable<Partial<ConnectConfig>> = {};
  const certPem = user.dataOrFile('client-certificate');
  const keyPem = user.dataOrFile('client-key');
  if (certPem !== undefined || keyPem !== undefined) {
    if (keyPem === undefined) throw user.error('client-key', 'is missing, and client-certificate is there');
    if (certPem === undefined) throw user.error('client-certificate', 'is missing, and client-key is there');
    const certificate = readable(user, 'client-certificate', 'a certificate', () => new X509Certificate(certPem));
    const key = readable(user, 'client-key', 'a private key', () => createPrivateKey(keyPem));
    if (!certificate.checkPrivateKey(key)) throw user.error('client-key', 'is not the key of client-certificate');
    Object.assign(part, { certPem, keyPem });
  }
  const token = user.string('token');
  if (token) part.token = token;
  const tokenFile = user.path('tokenFile');
  if (tokenFile !== undefined) part.tokenFile = tokenFile;
  const username = user.string('username');
  if (username) {
    part.username = username;
    part.password = user.string('password') ?? '';
  }
  const exec = user.object('exec');
  if (exec !== undefined) part.exec = execPart(exec, cluster);
  if (user.object('auth-provider') !== undefined) {
    throw user.error('auth-provider', 'was removed from Kubernetes in 1.26; use an exec plugin');
  }
  const impersonate = impersonation(user);
  if (impersonate !== undefined) part.impersonate = impersonate;
  return part;
}

function execPart(exec: KubeconfigFields, cluster: ConnectConfig): ExecConfig {
  const command = exec.requiredString('command');
  const installHint = exec.string('installHint')?.trim();
  const env = exec.list('env').map((entry) => [entry.requiredString('name'), entry.string('value') ?? ''] as const);
  return {
    apiVersion: oneOf(exec, 'apiVersion', ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']),
    // A bare name is looked up in the PATH.
    command: command.includes('/') || command.includes(sep) ? exec.resolve(command) : command,
    args: exec.strings('args') ?? [],
    env: Object.fromEntries(env),
    interactiveMode: oneOf(exec, 'interactiveMode', ['Never', 'IfAvailable', 'Always'], 'IfAvailable'),
    ...(installHint ? { installHint } : {}),
    ...(exec.boolean('provideClusterInfo') ? { cluster: clusterInfo(cluster) } : {}),
  };
}

function clusterInfo(cluster: ConnectConfig): Record<string, unknown> {
  return {
    server: cluster.server,
    'tls-server-name': cluster.tlsServerName,
    'insecure-skip-tls-verify': cluster.insecureSkipTlsVerify,
    'certificate-authority-data': cluster.caPem && Buffer.from(cluster.caPem).toString('base64'),
    'proxy-url': cluster.proxyUrl,
  };
}

function impersonation(user: KubeconfigFields): Impersonation | undefined {
  const name = user.string('as');
  const uid = user.string('as-uid');
  const groups = user.strings('as-groups');
  const extra = user.object('as-user-extra');
  if (!name) {
    if (uid || groups !== undefined || extra !== undefined) {
      throw user.error('as', 'is missing; as-uid, as-groups and as-user-extra need it');
    }
    return undefined;
  }
  return {
    user: name,
    ...(uid ? { uid } : {}),
    ...(groups === undefined ? {} : { groups }),
    ...(extra === undefined
      ? {}
      : { extra: Object.fromEntries(extra.keys().map((key) => [key, extra.strings(key) ?? []])) }),
  };
}

function url(fields: KubeconfigFields, field: string, protocols: readonly string[]): string {
  const text = fields.requiredString(field);
  const parsed = URL.parse(text);
  if (parsed === null || !protocols.includes(parsed.protocol)) {
    throw fields.error(field, `must be an http or https URL, found '${text}'`);
  }
  return text;
}

function oneOf<T extends string>(fields: KubeconfigFields, field: string, allowed: readonly T[], otherwise?: T): T {
  const value = fields.string(field) || otherwise;
  const found = allowed.find((option) => option === value);
  if (found === undefined) throw fields.error(field, `must be one of ${allowed.join(', ')}, found '${value ?? ''}'`);
  return found;
}

function readable<T>(fields: KubeconfigFields, field: string, what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw fields.error(field, `is not ${what} in PEM: ${(error as Error).message}`);
  }
}
