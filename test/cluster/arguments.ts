// The command lines of the control plane's programs. `real.ts` runs them.
import path from 'node:path';
import { auditArgs } from './audit.ts';
import type { Credentials } from './credentials.ts';

/** What a test may change about the control plane. */
export interface ApiServerOptions {
  /** Logs the requests of administrators, also while they impersonate others: see audit.ts. */
  readonly audit?: boolean;
  readonly controllerManager?: boolean;
  /** The flag `--controllers` of the controller manager; by default all that are on by default there. */
  readonly controllers?: readonly string[];
  readonly featureGates?: Readonly<Record<string, boolean>>;
  readonly extraApiServerArgs?: readonly string[];
}

/** etcd, with its data under `dir`. */
export function etcdArgs(dir: string, port: number, peerPort: number): string[] {
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  return [
    `--data-dir=${path.join(dir, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync', // this data need not survive a power cut
    '--log-level=warn',
  ];
}

/** kube-apiserver, on loopback, with every kind of authentication that the tests use. */
export function apiServerArgs(
  dir: string,
  etcdPort: number,
  port: number,
  { file }: Credentials,
  options: ApiServerOptions,
): string[] {
  const gates = Object.entries(options.featureGates ?? {}).map(([name, on]) => `${name}=${on}`);
  return [
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${dir}`,
    `--tls-cert-file=${file('serving.crt')}`,
    `--tls-private-key-file=${file('serving.key')}`,
    `--client-ca-file=${file('ca.crt')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('service-account.pub')}`,
    `--service-account-signing-key-file=${file('service-account.key')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--authorization-mode=Node,RBAC',
    '--endpoint-reconciler-type=none',
    `--requestheader-client-ca-file=${file('ca.crt')}`,
    '--requestheader-allowed-names=front-proxy',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${file('front-proxy.crt')}`,
    `--proxy-client-key-file=${file('front-proxy.key')}`,
    // Without controllers no namespace gets its default service account, and the plugin would reject every pod.
    ...(options.controllerManager === false ? ['--disable-admission-plugins=ServiceAccount'] : []),
    ...(options.audit === true ? auditArgs(dir) : []),
    ...(gates.length === 0 ? [] : [`--feature-gates=${gates.join(',')}`]),
    ...(options.extraApiServerArgs ?? []),
  ];
}

/** kube-controller-manager. */
export function controllerManagerArgs({ file }: Credentials, { controllers = ['*'] }: ApiServerOptions): string[] {
  return [
    `--kubeconfig=${file('controller-manager.kubeconfig')}`,
    `--controllers=${controllers.join(',')}`,
    '--use-service-account-credentials',
    `--service-account-private-key-file=${file('service-account.key')}`,
    `--root-ca-file=${file('ca.crt')}`,
    '--leader-elect=false',
    '--kube-api-qps=200',
    '--kube-api-burst=400',
    '--secure-port=0',
  ];
}

/** kube-scheduler. */
export function schedulerArgs({ file }: Credentials): string[] {
  return [
    `--kubeconfig=${file('scheduler.kubeconfig')}`,
    '--leader-elect=false',
    '--kube-api-qps=200',
    '--kube-api-burst=400',
    '--secure-port=0',
  ];
}
