// The main process of the node: node.ts starts it in new namespaces. It prepares them, starts every program, and ends
// when standard input is closed, unless detached; the kernel then kills everything in the namespaces. A number on
// standard input kills the API server for so many milliseconds.
//   node inside.ts DIR [detached]
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startProcess } from '../cluster/processes.ts';
import { startRealCluster } from '../cluster/real.ts';
import { containerd } from '../programs/containerd.ts';
import { debian } from '../programs/debian.ts';
import { kubernetesNode } from '../programs/kubernetes.ts';
import { programsOf } from '../programs/programs.ts';
import { apiPort, containerdSocket, nodeAddress, nodeName } from './addresses.ts';
import { forward } from './forward.ts';
import { cniConfig, containerdConfig, kubeletConfig, kubeProxyConfig } from './settings.ts';
import type { NodePaths } from './settings.ts';
import { addLibraries, prepareControlGroup, prepareMounts, prepareNetwork } from './surroundings.ts';

const [dir = '', detached] = process.argv.slice(2);
const tools = path.join(programsOf(debian), 'tools');
const bin = { containerd: programsOf(containerd), node: programsOf(kubernetesNode) };
const paths: NodePaths = {
  dir,
  tools,
  controlGroup: path.basename(dir),
  credential: (name) => path.join(dir, 'control-plane', 'credentials', name),
};

if (detached === undefined) {
  createInterface({ input: process.stdin.on('error', () => process.exit(0)) })
    .on('line', (line) => void killApiServer(Number(line)))
    .on('close', () => process.exit(0));
} else {
  setInterval(() => undefined, 60_000);
}
process.env['PATH'] = [bin.containerd, `${tools}/usr/sbin`, process.env['PATH']].join(':');

prepareMounts(dir);
addLibraries(dir, tools);
prepareNetwork();
prepareControlGroup(paths.controlGroup);
mkdirSync(path.join(dir, 'cni'));
const files = {
  'containerd.toml': containerdConfig(paths),
  'cni/10-pods.conflist': cniConfig(),
  'kubelet.yaml': kubeletConfig(paths),
  'kube-proxy.yaml': kubeProxyConfig(paths),
  'resolv.conf': '',
};
for (const [name, text] of Object.entries(files)) writeFileSync(path.join(dir, name), text);
writeFileSync('/proc/sys/kernel/hostname', nodeName);

startProcess(dir, 'containerd', path.join(bin.containerd, 'containerd'), [
  '--config',
  path.join(dir, 'containerd.toml'),
]);
const [cluster] = await Promise.all([startControlPlane(), importImages()]);
startProcess(dir, 'kubelet', path.join(bin.node, 'kubelet'), [
  `--config=${path.join(dir, 'kubelet.yaml')}`,
  `--kubeconfig=${paths.credential('kubelet.kubeconfig')}`,
  `--hostname-override=${nodeName}`,
  `--node-ip=${nodeAddress}`,
]);
startProcess(dir, 'kube-proxy', path.join(bin.node, 'kube-proxy'), [`--config=${path.join(dir, 'kube-proxy.yaml')}`]);
await forward({ path: path.join(dir, 'api.sock') }, { port: apiPort });
writeFileSync(path.join(dir, 'started.new'), cluster.kubeconfig);
renameSync(path.join(dir, 'started.new'), path.join(dir, 'started'));

async function killApiServer(forMs: number): Promise<void> {
  await cluster.killApiServer();
  await delay(forMs);
  await cluster.restartApiServer();
  // After an outage its watches wait for up to half a minute. Meanwhile it may delete pods without updating their
  // EndpointSlice, and requests to them fail.
  await cluster.restartControllerManager();
}

async function startControlPlane(): ReturnType<typeof startRealCluster> {
  return await startRealCluster({
    dir: path.join(dir, 'control-plane'),
    kubelet: false,
    audit: true,
    port: apiPort,
    addresses: [nodeAddress],
    extraApiServerArgs: [
      '--bind-address=0.0.0.0',
      `--advertise-address=${nodeAddress}`,
      '--endpoint-reconciler-type=lease',
      `--kubelet-client-certificate=${paths.credential('admin.crt')}`,
      `--kubelet-client-key=${paths.credential('admin.key')}`,
      `--kubelet-certificate-authority=${paths.credential('ca.crt')}`,
      '--kubelet-preferred-address-types=InternalIP',
      '--allow-privileged',
      '--enable-admission-plugins=NodeRestriction',
    ],
  });
}

/** Imports every archive in `images/` as soon as containerd is ready, and tags images with their aliases. */
async function importImages(): Promise<void> {
  const run = promisify(execFile);
  const ctr = (...args: string[]): Promise<unknown> =>
    run(path.join(bin.containerd, 'ctr'), ['-a', containerdSocket, '-n', 'k8s.io', ...args]);
  for (const deadline = Date.now() + 30_000; ;) {
    try {
      await ctr('--connect-timeout', '1s', 'version');
      break;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(50);
    }
  }
  const images = path.join(dir, 'images');
  for (const file of readdirSync(images)) await ctr('images', 'import', '--local', path.join(images, file));
  const aliases = JSON.parse(readFileSync(path.join(dir, 'aliases'), 'utf8')) as Record<string, string>;
  for (const [alias, image] of Object.entries(aliases)) await ctr('images', 'tag', '--force', image, alias);
}
