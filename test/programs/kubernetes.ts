// The programs of a Kubernetes control plane and node, from their public Go modules.
import { renameSync } from 'node:fs';
import path from 'node:path';
import { go, goBuild, writeModule } from './go.ts';
import { VersionUnavailable } from './programs.ts';
import type { Log, ProgramSet } from './programs.ts';

/** The patch releases to try, best first. The tests are written for this minor version. */
const versions = [4, 3, 2, 1, 0].map((patch) => `1.36.${patch}`);

const controlPlane = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'] as const;

/** A control plane and kubectl, for `test/cluster`. */
export const kubernetes: ProgramSet<(typeof controlPlane)[number] | 'etcd'> = {
  name: 'kubernetes',
  title: 'Kubernetes binaries',
  versions,
  programs: ['etcd', ...controlPlane],
  variable: 'KUBEBUILDER_ASSETS',
  advice:
    'run `npm run real-cluster -- fetch` (needs Go), ' +
    'or put the programs into one folder (`setup-envtest use`) and set KUBEBUILDER_ASSETS to it',
  async build({ work, bin, version, log }) {
    const source = await prepare(work, version);
    await buildCommands({ work, bin, version, source, commands: controlPlane, log });
    await goBuild({ work, bin, packages: [etcdModule], log });
    renameSync(path.join(bin, 'server'), path.join(bin, 'etcd')); // the module's path ends in server/v3
  },
};

/** The programs of a node. */
export const kubernetesNode: ProgramSet<'kubelet' | 'kube-proxy'> = {
  name: 'kubernetes-node',
  title: 'kubelet and kube-proxy',
  versions,
  programs: ['kubelet', 'kube-proxy'],
  variable: 'OFFSHOOT_NODE_PROGRAMS',
  advice: 'run `npm run real-node -- fetch` (needs Go)',
  async build({ work, bin, version, log }) {
    const source = await prepare(work, version);
    await buildCommands({ work, bin, version, source, commands: ['kubelet', 'kube-proxy'], log });
  },
};

/** What a build needs to know about a version. */
interface Source {
  readonly released: string;
}

interface GoMod {
  readonly Go: string;
  readonly Require: readonly { readonly Path: string; readonly Version: string }[];
  readonly Replace: readonly { readonly Old: { readonly Path: string }; readonly New: { readonly Path: string } }[];
}

const etcdModule = 'go.etcd.io/etcd/server/v3';

/** Downloads a version, and makes `work` a module in which its commands can be built. */
async function prepare(work: string, version: string): Promise<Source> {
  const mod = await download(work, version);
  const info = JSON.parse(await go(['list', '-m', '-json', `k8s.io/kubernetes@v${version}`], work)) as {
    Time?: string;
  };
  const etcd = mod.Require.find((entry) => entry.Path === etcdModule);
  if (etcd === undefined) throw new Error(`the go.mod of Kubernetes ${version} does not name ${etcdModule}`);
  writeModule(work, {
    go: mod.Go,
    require: { 'k8s.io/kubernetes': `v${version}`, [etcdModule]: etcd.Version },
    replace: Object.fromEntries(stagingOf(mod).map((name) => [name, stagingVersion(version)])),
  });
  return { released: info.Time ?? '1970-01-01T00:00:00Z' };
}

async function download(work: string, version: string): Promise<GoMod> {
  try {
    const module = JSON.parse(await go(['mod', 'download', '-json', `k8s.io/kubernetes@v${version}`], work)) as {
      readonly GoMod: string;
    };
    const mod = JSON.parse(await go(['mod', 'edit', '-json', module.GoMod], work)) as GoMod;
    await go(['mod', 'download', ...stagingOf(mod).map((name) => `${name}@${stagingVersion(version)}`)], work);
    return mod;
  } catch (error) {
    if ((error as Error).cause !== undefined) throw error; // there is no Go
    throw new VersionUnavailable((error as Error).message);
  }
}

/** The modules that live in Kubernetes' own tree and are published beside it as v0.MINOR.PATCH. */
function stagingOf(mod: GoMod): string[] {
  return mod.Replace.filter((entry) => entry.New.Path.startsWith('./')).map((entry) => entry.Old.Path);
}

function stagingVersion(kubernetes: string): string {
  return `v0.${kubernetes.split('.').slice(1).join('.')}`;
}

interface Commands {
  readonly work: string;
  readonly bin: string;
  readonly version: string;
  readonly source: Source;
  readonly commands: readonly string[];
  readonly log: Log;
}

async function buildCommands({ work, bin, version, source, commands, log }: Commands): Promise<void> {
  const [major, minor] = version.split('.');
  const variables = {
    gitVersion: `v${version}`,
    gitMajor: major,
    gitMinor: minor,
    gitTreeState: 'clean',
    buildDate: source.released,
  };
  const linked = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((name) =>
    Object.entries(variables).map(([variable, value]) => `-X ${name}.${variable}=${value}`),
  );
  const packages = commands.map((name) => `k8s.io/kubernetes/cmd/${name}`);
  await goBuild({ work, bin, packages, linked, log });
}
