// Prepares the namespaces of the node: mounts, network, kernel settings, control groups.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { nodeAddress } from './addresses.ts';

const controlGroups = '/sys/fs/cgroup';

/** Settings that a kubelet would change for the whole machine: its private /proc has these values already. */
const kernelSettings = {
  'vm/overcommit_memory': 1,
  'vm/panic_on_oom': 0,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
};

function sh(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
}

/** Mounts private folders where the node writes outside its own. Must run in a new mount namespace. */
export function prepareMounts(dir: string): void {
  // The kubelet needs shared mount propagation to containers; mounts do not leave the namespace.
  sh('mount', '--make-rshared', '/');
  sh('mount', '-t', 'tmpfs', 'tmpfs', '/run');
  for (const folder of ['/var/lib', '/var/log']) {
    const own = path.join(dir, folder.slice(1).replace('/', '-'));
    mkdirSync(own);
    sh('mount', '--bind', own, folder);
  }
  for (const [name, value] of Object.entries(kernelSettings)) {
    const file = path.join(dir, 'sysctl', name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `${value}\n`);
    if (existsSync(`/proc/sys/${name}`)) sh('mount', '--bind', file, `/proc/sys/${name}`);
  }
}

/** Adds a folder to the library path of all programs, whatever their environment. */
export function addLibraries(dir: string, tools: string): void {
  const conf = path.join(dir, 'ld.so.conf');
  const cache = path.join(dir, 'ld.so.cache');
  const machine = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`;
  // The machine's own libraries come first, because they match its C library.
  writeFileSync(
    conf,
    ['include /etc/ld.so.conf', `${tools}/usr/lib/${machine}`, `${tools}/lib/${machine}`, ''].join('\n'),
  );
  sh('ldconfig', '-X', '-C', cache, '-f', conf);
  sh('mount', '--bind', cache, '/etc/ld.so.cache');
}

/** Gives the node an address, and a default route to nowhere: packets to service addresses need some route. */
export function prepareNetwork(): void {
  sh('ip', 'link', 'set', 'lo', 'up');
  sh('ip', 'link', 'add', 'node0', 'type', 'bridge');
  sh('ip', 'address', 'add', `${nodeAddress}/24`, 'dev', 'node0');
  sh('ip', 'link', 'set', 'node0', 'up');
  sh('ip', 'route', 'add', 'default', 'dev', 'node0');
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
  const bridged = '/proc/sys/net/bridge/bridge-nf-call-iptables';
  if (existsSync(bridged)) writeFileSync(bridged, '1');
  writeFileSync('/proc/sys/net/ipv4/ping_group_range', '0 2147483647');
}

/** The roots of the machine's control groups: one for cgroup v2, one per controller for v1. */
export function controlGroupRoots(): string[] {
  if (existsSync(path.join(controlGroups, 'cgroup.controllers'))) return [controlGroups];
  return readdirSync(controlGroups)
    .map((name) => path.join(controlGroups, name))
    .filter((root) => existsSync(path.join(root, 'cgroup.procs')));
}

/** Creates the parent control group of all pods. */
export function prepareControlGroup(name: string): void {
  for (const root of controlGroupRoots()) {
    const group = path.join(root, name);
    mkdirSync(group, { recursive: true });
    // In cgroup v1, a new cpuset is empty.
    for (const file of ['cpuset.cpus', 'cpuset.mems'])
      if (path.basename(root) === 'cpuset') writeFileSync(path.join(group, file), readFileSync(path.join(root, file)));
    const controllers = path.join(root, 'cgroup.controllers');
    if (!existsSync(controllers)) continue;
    const enabled = readFileSync(controllers, 'utf8')
      .trim()
      .split(' ')
      .map((each) => `+${each}`)
      .join(' ');
    for (const at of [root, group]) writeFileSync(path.join(at, 'cgroup.subtree_control'), enabled);
  }
}
