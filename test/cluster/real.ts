// A real Kubernetes control plane on loopback for tests: etcd, kube-apiserver, controller manager, scheduler and a
// fake kubelet (kubelet.ts). Needs no root and no containers. The cluster fixture (index.ts) shares one.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { CertificatePair } from '../../src/kube/pki.ts';
import { apiServerArgs, controllerManagerArgs, etcdArgs, schedulerArgs } from './arguments.ts';
import type { ApiServerOptions } from './arguments.ts';
import { kubernetes } from '../programs/kubernetes.ts';
import { programsOf } from '../programs/programs.ts';
import { writeCredentials } from './credentials.ts';
import type { Credentials } from './credentials.ts';
import { freePorts } from '../support/free-ports.ts';
import { guardProcesses, readLog, startProcess } from './processes.ts';
import type { RunningProcess } from './processes.ts';

export interface RealClusterOptions extends ApiServerOptions {
  /** Each program runs unless it is `false`. Without a scheduler or kubelet, pods stay pending. */
  readonly scheduler?: boolean;
  readonly kubelet?: boolean;
  /** Addresses of the API server besides 127.0.0.1, and its port; by default a free one. */
  readonly addresses?: readonly string[];
  readonly port?: number;
  /** An empty folder for everything that the cluster writes; by default a temporary one. Removed by `stop`. */
  readonly dir?: string;
}

export interface RealCluster {
  readonly url: string;
  readonly kubeconfigPath: string;
  readonly kubeconfig: string;
  readonly caPem: string;
  readonly admin: CertificatePair;
  /** The kubectl that was built with the server. */
  readonly kubectl: string;
  /** The process IDs of its programs. */
  pids(): readonly number[];
  /** What one of its programs (`etcd`, `kube-apiserver`, …, `kubelet`) has written so far. */
  logs(name: Program | 'kubelet'): string;
  /** Freezes the API server: connections stay open and nothing answers. */
  pauseApiServer(): void;
  resumeApiServer(): void;
  killApiServer(): Promise<void>;
  /** Starts a killed API server again, at the same address; resolves when it is ready. */
  restartApiServer(): Promise<void>;
  /** Kills the controller manager and starts it again. */
  restartControllerManager(): Promise<void>;
  /** Ends every program and removes every file. */
  stop(): Promise<void>;
}

type Program = (typeof kubernetes.programs)[number];

const kubeletProgram = fileURLToPath(new URL('./kubelet.ts', import.meta.url));
/** For Go: an eighth of the API server's CPU time, for some more memory. */
const LESS_COLLECTING = { GOGC: '400' };
const startDeadlineMs = 60_000;
const stopDeadlineMs = 3_000;

/** Starts a control plane. Resolves when the API server is ready and, where enabled, the controllers and the node. */
export async function startRealCluster(options: RealClusterOptions = {}): Promise<RealCluster> {
  const programs = programsOf(kubernetes);
  const dir = options.dir ?? mkdtempSync(path.join(tmpdir(), 'offshoot-real-'));
  mkdirSync(dir, { recursive: true });
  guardProcesses(dir);

  const [etcdPort, etcdPeerPort, freePort] = await freePorts(3);
  const apiPort = options.port ?? freePort;
  const url = `https://127.0.0.1:${apiPort}`;
  const credentials = writeCredentials(path.join(dir, 'credentials'), url, options.addresses);
  const running = new Map<string, RunningProcess>();
  const run = (name: Program | 'kubelet', args: readonly string[], command = path.join(programs, name)): void => {
    running.set(name, startProcess(dir, name, command, args, LESS_COLLECTING));
  };
  const startApiServer = async (): Promise<void> => {
    run('kube-apiserver', apiServerArgs(dir, etcdPort!, apiPort!, credentials, options));
    await until('the API server to be ready', () => answers(url, '/readyz', credentials));
  };
  const startControllerManager = (): void =>
    run('kube-controller-manager', controllerManagerArgs(credentials, options));
  /** Waits for a condition, and gives up at once when one of the programs has ended. */
  const until = async (what: string, condition: () => Promise<boolean>): Promise<void> => {
    const deadline = Date.now() + startDeadlineMs;
    while (!(await condition())) {
      const dead = [...running.values()].find((process) => process.ended() !== undefined);
      if (dead !== undefined)
        throw new Error(`${dead.name} ended (${dead.ended()}):\n${tail(readLog(dir, dead.name))}`);
      if (Date.now() > deadline)
        throw new Error(`gave up waiting for ${what}:\n${tail(readLog(dir, 'kube-apiserver'))}`);
      await delay(50);
    }
  };
  const stop = async (): Promise<void> => {
    // Clients of the API server stop first and etcd last, so that nothing waits for a server that has ended.
    for (const group of [['kubelet', 'kube-scheduler', 'kube-controller-manager'], ['kube-apiserver'], ['etcd']]) {
      await Promise.all(group.map(async (name) => await running.get(name)?.stop(stopDeadlineMs)));
    }
    rmSync(dir, { recursive: true, force: true });
  };

  try {
    run('etcd', etcdArgs(dir, etcdPort!, etcdPeerPort!));
    await startApiServer();
    if (options.controllerManager !== false) startControllerManager();
    if (options.scheduler !== false) run('kube-scheduler', schedulerArgs(credentials));
    if (options.kubelet !== false) {
      run('kubelet', [kubeletProgram, credentials.file('kubelet.kubeconfig')], process.execPath);
      await until('the node', () => answers(url, '/api/v1/nodes/node-1', credentials));
    }
    if (options.controllerManager !== false) {
      const account = '/api/v1/namespaces/default/serviceaccounts/default';
      await until('the controllers', () => answers(url, account, credentials));
    }
  } catch (error) {
    await stop();
    throw error;
  }

  const apiServer = (): RunningProcess => running.get('kube-apiserver')!;
  return {
    url,
    kubeconfigPath: credentials.file('admin.kubeconfig'),
    kubeconfig: credentials.kubeconfig,
    caPem: credentials.caPem,
    admin: credentials.admin,
    kubectl: path.join(programs, 'kubectl'),
    pids: () => [...running.values()].flatMap(({ pid }) => pid ?? []),
    logs: (name) => readLog(dir, name),
    pauseApiServer: () => apiServer().signal('SIGSTOP'),
    resumeApiServer: () => apiServer().signal('SIGCONT'),
    killApiServer: () => {
      apiServer().signal('SIGKILL');
      return apiServer().stop(stopDeadlineMs);
    },
    restartApiServer: startApiServer,
    async restartControllerManager() {
      const process = running.get('kube-controller-manager')!;
      process.signal('SIGKILL');
      await process.stop(stopDeadlineMs);
      startControllerManager();
    },
    stop,
  };
}

/** Whether a GET as the admin answers 200 within a second. */
function answers(url: string, at: string, { caPem, admin }: Credentials): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { ca: caPem, cert: admin.certPem, key: admin.keyPem, agent: false, timeout: 1_000 };
    const sent = request(url + at, options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(false));
    sent.end();
  });
}

function tail(log: string): string {
  return log.trimEnd().split('\n').slice(-15).join('\n');
}
