// A real node for tests: the control plane of test/cluster, containerd, a kubelet, kube-proxy and DNS, with real pods.
// Everything runs in one set of namespaces, which ends with its main process (inside.ts) or with ours, even on SIGKILL.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { until } from '../support/until.ts';
import { toolboxImage } from './addresses.ts';
import { installDns } from './dns.ts';
import { forward } from './forward.ts';
import { fullName, imageArchives, istioAliases, writeOffshootArchive } from './images.ts';
import { kubectlFor } from './kubectl.ts';
import type { Kubectl } from './kubectl.ts';
import { installMesh } from './mesh.ts';
import { nodeMissing } from './programs.ts';
import { controlGroupRoots } from './surroundings.ts';

export interface RealNodeOptions {
  /** Installs Istio, which injects sidecars. */
  readonly mesh?: boolean;
  /** Imports an image of Offshoot, built from `dist/`. */
  readonly offshoot?: boolean;
  /** Imports the images of Istio under these tags. */
  readonly istioTags?: readonly string[];
  /** Aliases of the image that test pods run: `cart:1`. */
  readonly aliases?: readonly string[];
  /** Images of web servers that answer with their image name: `orders:1`. */
  readonly web?: readonly string[];
  /** Keeps running when this process has ended. */
  readonly detached?: boolean;
  readonly log?: (line: string) => void;
}

export interface RealNode {
  readonly dir: string;
  /** Works from outside the node, while this process runs. */
  readonly kubeconfigPath: string;
  readonly kubectl: Kubectl;
  /**
   * Kills the API server, and restarts it and the controller manager after this time. Resolves when the API server is
   * ready. Does not work if detached.
   */
  readonly interruptApiServer: (forMs: number) => Promise<void>;
  /** Copies all logs, also those of pods, to a folder that is kept; returns its path. */
  readonly keepLogs: () => string;
  /** Ends every process and removes every file and control group. */
  readonly stop: () => Promise<void>;
}

const insideProgram = fileURLToPath(new URL('./inside.ts', import.meta.url));
const startDeadlineMs = 120_000;

/**
 * Arguments: the node's folder (its base name is also the name of the control group), then the command to run inside,
 * which ends when standard input is closed. The kernel removes processes, mounts, links and rules with the namespaces;
 * this script removes control groups and files. The first process inside is a shell, which reaps orphans.
 */
const outerScript = `
dir=$1; shift; exec 3<&0
unshare --mount --net --pid --uts --ipc --fork --kill-child --mount-proc -- \\
  sh -c 'exec 3<&0; "$@" <&3 3<&- & wait $!' init "$@" <&3 >>"$dir/node.log" 2>&1 &
echo $! >"$dir/unshare.pid"
wait $! || [ -e "$dir/stopping" ] || { mkdir "$dir.failed"; cp "$dir"/*.log "$dir"/*/*.log "$dir.failed"; }
for try in 1 2 3 4 5 6 7 8 9 10; do
  for root in $ROOTS; do find "$root/\${dir##*/}" -depth -type d -exec rmdir {} + ; done && break
  for root in $ROOTS; do [ -d "$root/\${dir##*/}" ] && sleep 0.2 && continue 2; done
  break
done 2>/dev/null
rm -rf "$dir"`;

/** Starts a node. Resolves when it is ready, with DNS and all that the options ask for. */
export async function startRealNode(options: RealNodeOptions = {}): Promise<RealNode> {
  const missing = nodeMissing({ mesh: needsIstio(options) });
  if (missing !== undefined) throw new Error(missing);
  const started = performance.now();
  const log = (what: string): void =>
    options.log?.(`${what} after ${((performance.now() - started) / 1000).toFixed(1)} s`);
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-node-'));
  provideImages(path.join(dir, 'images'), options);
  writeFileSync(path.join(dir, 'aliases'), JSON.stringify(aliasesOf(options)));
  log('images made');
  const outer = startOuter(dir, options.detached === true);
  const failed = `${dir}.failed`;
  try {
    const deadline = Date.now() + startDeadlineMs;
    while (!existsSync(path.join(dir, 'started'))) {
      if (outer.ended()) throw new Error(`the node ended; its logs: ${failed}`);
      if (Date.now() > deadline) throw new Error('the node did not start in time');
      await delay(20);
    }
    log('control plane, containerd and kubelet started');
    const reach = await openFromOutside(dir);
    const interruptApiServer = (forMs: number): Promise<void> => restartApiServer(forMs, outer, reach.kubectl);
    const node = { dir, ...reach, interruptApiServer, keepLogs: () => keepLogs(dir), stop: outer.stop };
    await installDns(node.kubectl);
    log('DNS ready');
    if (options.mesh === true) await installMesh(node.kubeconfigPath);
    if (options.mesh === true) log('istiod ready');
    return node;
  } catch (error) {
    const logs = outer.ended() ? failed : keepLogs(dir);
    await outer.stop();
    throw new Error(`${(error as Error).message}\nlogs of the node: ${logs}`, { cause: error });
  }
}

/** The command prefix that runs a command inside the node. */
export function enterCommand(dir: string): string[] {
  return ['nsenter', '--target', firstProcess(dir), '--mount', '--net', '--pid', '--uts', '--ipc', '--wdns=/', '--'];
}

/** The command prefix that runs a command in the network of the node, with the files of this machine. */
export function enterNetworkCommand(dir: string): string[] {
  return ['nsenter', '--target', firstProcess(dir), '--net', '--'];
}

function firstProcess(dir: string): string {
  const unshare = readFileSync(path.join(dir, 'unshare.pid'), 'utf8').trim();
  return readFileSync(`/proc/${unshare}/task/${unshare}/children`, 'utf8').trim();
}

/** The path of a kubeconfig that works inside the node. */
export function innerKubeconfig(dir: string): string {
  return path.join(dir, 'control-plane/credentials/admin.kubeconfig');
}

/** Kills a detached node; its control groups and files are removed a moment later. */
export function killNode(dir: string): void {
  writeFileSync(path.join(dir, 'stopping'), '');
  process.kill(Number(readFileSync(path.join(dir, 'unshare.pid'), 'utf8')), 'SIGKILL');
}

function needsIstio({ mesh, istioTags = [] }: RealNodeOptions): boolean {
  return mesh === true || istioTags.length > 0;
}

/** Aliases of images → the image. */
function aliasesOf({ aliases = [], istioTags = [] }: RealNodeOptions): Record<string, string> {
  const ofTests = aliases.map((alias) => [fullName(alias), toolboxImage]);
  return Object.fromEntries([...ofTests, ...istioTags.flatMap(istioAliases)]) as Record<string, string>;
}

function provideImages(dir: string, options: RealNodeOptions): void {
  mkdirSync(dir);
  for (const archive of imageArchives({ istio: needsIstio(options), web: options.web ?? [] }))
    symlinkSync(archive, path.join(dir, path.basename(archive)));
  if (options.offshoot === true) writeOffshootArchive(path.join(dir, 'offshoot.tar'));
}

interface Outer {
  readonly ended: () => boolean;
  /** Writes a line to the standard input of what runs inside. */
  readonly tell: (line: string) => void;
  readonly stop: () => Promise<void>;
}

function startOuter(dir: string, detached: boolean): Outer {
  const inside = [process.execPath, insideProgram, dir, ...(detached ? ['detached'] : [])];
  const child = spawn('sh', ['-c', outerScript, 'real-node', dir, ...inside], {
    env: { ...process.env, ROOTS: controlGroupRoots().join(' ') },
    stdio: [detached ? 'ignore' : 'pipe', 'ignore', 'ignore'],
    detached: true,
  });
  let ended = false;
  const end = new Promise<void>((resolve) => {
    child.once('exit', () => {
      ended = true;
      resolve();
    });
  });
  child.unref();
  return {
    ended: () => ended,
    tell: (line) => void child.stdin?.write(`${line}\n`),
    async stop() {
      if (ended) return;
      child.ref();
      if (detached) killNode(dir);
      else child.stdin?.destroy();
      await end;
    },
  };
}

/** Opens a port on this machine that forwards to the API server of the node. */
async function openFromOutside(dir: string): Promise<{ readonly kubeconfigPath: string; readonly kubectl: Kubectl }> {
  const { port } = await forward({ port: 0 }, { path: path.join(dir, 'api.sock') });
  const inner = readFileSync(path.join(dir, 'started'), 'utf8');
  const kubeconfigPath = path.join(dir, 'kubeconfig');
  writeFileSync(kubeconfigPath, inner.replace(/(https:\/\/127\.0\.0\.1):\d+/, `$1:${port}`), { mode: 0o600 });
  return { kubeconfigPath, kubectl: kubectlFor(kubeconfigPath) };
}

async function restartApiServer(ms: number, outer: Outer, kubectl: Kubectl): Promise<void> {
  const answers = (): Promise<boolean> =>
    kubectl(['get', '--raw', '/readyz', '--request-timeout=1s']).then(
      () => true,
      () => false,
    );
  outer.tell(String(ms));
  await until(async () => !(await answers()), startDeadlineMs);
  await until(answers, startDeadlineMs);
}

/** Large folders, and links into the node, are not copied. */
const notCopied = /\/(containerd|images|credentials|etcd|var-lib|var-log\/containers|.*\.sock)$/;

function keepLogs(dir: string): string {
  const kept = mkdtempSync(path.join(tmpdir(), 'offshoot-node-logs-'));
  cpSync(dir, kept, { recursive: true, filter: (file) => !notCopied.test(file) });
  return kept;
}
