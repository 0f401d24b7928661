// What a real node could leave on the machine, or change about it.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { debian } from '../programs/debian.ts';
import { programsOf } from '../programs/programs.ts';
import { controlGroupRoots } from './surroundings.ts';

const settings = {
  vm: ['overcommit_memory', 'panic_on_oom'],
  kernel: ['panic', 'panic_on_oops', 'hostname'],
  'net/ipv4': ['ip_forward', 'ping_group_range'],
  'net/netfilter': ['nf_conntrack_max'],
};

/** The state of the machine, equal before and after a node. Processes are only those whose command line has `dir`. */
export function machineState(dir: string): Readonly<Record<string, readonly string[]>> {
  return {
    processes: processesNaming(dir),
    mounts: lines(readFileSync('/proc/self/mounts', 'utf8')),
    links: readdirSync('/sys/class/net').sort(),
    rules: lines(ruleset()),
    controlGroups: controlGroupRoots().flatMap((root) =>
      readdirSync(root)
        .filter((name) => name.startsWith('offshoot-'))
        .map((name) => path.join(root, name)),
    ),
    settings: Object.entries(settings).flatMap(([group, names]) =>
      names.map((name) => `${group}/${name} ${read(`/proc/sys/${group}/${name}`)}`),
    ),
  };
}

function processesNaming(dir: string): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .map((pid) => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' '))
    .filter((command) => command.includes(dir));
}

/** The machine's own nftables ruleset, read with the node's nft. */
function ruleset(): string {
  const tools = path.join(programsOf(debian), 'tools');
  const libraries = ['usr/lib', 'lib'].map((lib) => `${tools}/${lib}/x86_64-linux-gnu`).join(':');
  const env = { ...process.env, LD_LIBRARY_PATH: libraries };
  return execFileSync(path.join(tools, 'usr/sbin/nft'), ['list', 'ruleset'], { env, encoding: 'utf8' });
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}
