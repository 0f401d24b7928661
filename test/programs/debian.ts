// Programs and libraries from Debian packages, unpacked into a folder, not installed.
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { run } from './command.ts';
import type { Log, ProgramSet } from './programs.ts';

/** The packages that the node itself runs, with libraries that the machine may lack. */
const tools = {
  runc: ['libseccomp2'],
  'containernetworking-plugins': [],
  iptables: [
    'libip4tc2',
    'libip6tc2',
    'libxtables12',
    'libmnl0',
    'libnftnl11',
    'libnetfilter-conntrack3',
    'libnfnetlink0',
  ],
  nftables: ['libnftables1', 'libjansson4', 'libgmp10', 'libedit2', 'libbsd0', 'libmd0', 'libtinfo6'],
  busybox: [],
};

/** The system libraries of an image, in a separate folder, because the machine itself must use its own. */
const base = ['libc6', 'libgcc-s1', 'libstdc++6'];

const iptables = ['iptables', 'iptables-save', 'iptables-restore', 'ip6tables', 'ip6tables-save', 'ip6tables-restore'];

export const debian: ProgramSet = {
  name: 'debian',
  title: 'runc, CNI plugins and nftables',
  versions: ['bookworm'],
  programs: ['tools/usr/sbin/runc', 'tools/usr/lib/cni/bridge', 'tools/usr/sbin/nft', 'tools/bin/busybox', 'base/lib'],
  variable: 'OFFSHOOT_DEBIAN_PROGRAMS',
  advice: 'run `npm run real-node -- fetch` (needs apt-get and dpkg)',
  async build({ work, bin, log }) {
    await unpack([...Object.keys(tools), ...Object.values(tools).flat()], work, path.join(bin, 'tools'), log);
    await unpack(base, work, path.join(bin, 'base'), log);
    // On Debian, update-alternatives creates these links.
    for (const name of iptables) symlinkSync('xtables-nft-multi', path.join(bin, 'tools/usr/sbin', name));
  },
};

async function unpack(packages: readonly string[], work: string, target: string, log: Log): Promise<void> {
  const downloads = path.join(work, path.basename(target));
  mkdirSync(downloads);
  mkdirSync(target);
  const download = ['-o', 'APT::Sandbox::User=root', 'download', ...packages];
  try {
    await run('apt-get', download, { cwd: downloads, log });
  } catch {
    // A new machine has no package lists.
    await run('apt-get', ['update'], { cwd: downloads, log });
    await run('apt-get', download, { cwd: downloads, log });
  }
  for (const file of readdirSync(downloads)) await run('dpkg', ['-x', file, target], { cwd: downloads, log });
}
