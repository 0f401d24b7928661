// Builds the programs of a Kubernetes control plane from the public Go modules. `binaries.ts` calls it, under a lock.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

export interface BuildOptions {
  /** Holds one folder a version; the new one appears in it whole or not at all. */
  readonly root: string;
  /** Kubernetes versions to try in turn: not every patch release need be on the module proxy in use. */
  readonly versions: readonly string[];
  readonly log: (line: string) => void;
}

/** Builds the first of the versions that can be downloaded, and answers with its folder. */
export async function buildBinaries(options: BuildOptions): Promise<string> {
  const work = mkdtempSync(path.join(options.root, '.build-'));
  try {
    const [version, source] = await firstAvailable(work, options);
    options.log(`building Kubernetes ${version} (several minutes, once)`);
    await buildAll(work, version, source, options.log);
    const target = path.join(options.root, version);
    rmSync(target, { recursive: true, force: true });
    renameSync(path.join(work, 'bin'), target);
    return target;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** What Kubernetes' own go.mod says that a module which builds it must repeat. */
interface Source {
  readonly go: string;
  /** The modules that live in Kubernetes' own tree and are published beside it as v0.MINOR.PATCH. */
  readonly staging: readonly string[];
  readonly etcd: string;
  readonly released: string;
}

interface GoMod {
  readonly Go: string;
  readonly Require: readonly { readonly Path: string; readonly Version: string }[];
  readonly Replace: readonly { readonly Old: { readonly Path: string }; readonly New: { readonly Path: string } }[];
}

const noGo =
  'no `go` on the PATH: install Go, or put the programs into one folder (`setup-envtest use`) and set KUBEBUILDER_ASSETS';
const etcdModule = 'go.etcd.io/etcd/server/v3';

async function firstAvailable(work: string, { versions, log }: BuildOptions): Promise<[string, Source]> {
  const failures: string[] = [];
  for (const version of versions) {
    try {
      return [version, await download(work, version)];
    } catch (error) {
      if ((error as { code?: string }).code === 'ENOENT') throw new Error(noGo, { cause: error });
      failures.push(`${version}: ${(error as Error).message}`);
      log(`Kubernetes ${version} cannot be downloaded, trying another`);
    }
  }
  throw new Error(`no version of Kubernetes can be downloaded:\n${failures.join('\n')}`);
}

async function download(work: string, version: string): Promise<Source> {
  const module = JSON.parse(await go(['mod', 'download', '-json', `k8s.io/kubernetes@v${version}`], work)) as {
    readonly GoMod: string;
  };
  const mod = JSON.parse(await go(['mod', 'edit', '-json', module.GoMod], work)) as GoMod;
  const info = JSON.parse(await go(['list', '-m', '-json', `k8s.io/kubernetes@v${version}`], work)) as {
    Time?: string;
  };
  const staging = mod.Replace.filter((entry) => entry.New.Path.startsWith('./')).map((entry) => entry.Old.Path);
  await go(['mod', 'download', ...staging.map((name) => `${name}@${stagingVersion(version)}`)], work);
  const etcd = mod.Require.find((entry) => entry.Path === etcdModule);
  if (etcd === undefined) throw new Error(`its go.mod does not name ${etcdModule}`);
  return { go: mod.Go, staging, etcd: etcd.Version, released: info.Time ?? '1970-01-01T00:00:00Z' };
}

async function buildAll(work: string, version: string, source: Source, log: (line: string) => void): Promise<void> {
  writeFileSync(
    path.join(work, 'go.mod'),
    [
      'module offshoot.dev/real-cluster',
      `go ${source.go}`,
      `require k8s.io/kubernetes v${version}`,
      `require ${etcdModule} ${source.etcd}`,
      ...source.staging.map((name) => `replace ${name} => ${name} ${stagingVersion(version)}`),
      '',
    ].join('\n'),
  );
  const bin = path.join(work, 'bin');
  mkdirSync(bin);
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
  // -mod=mod lets go complete go.mod and go.sum, which start out without the indirect modules.
  const build = ['build', '-mod=mod', '-trimpath'];
  const commands = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'];
  const packages = commands.map((name) => `k8s.io/kubernetes/cmd/${name}`);
  await go([...build, '-ldflags', ['-s -w', ...linked].join(' '), '-o', `${bin}${path.sep}`, ...packages], work, log);
  await go([...build, '-ldflags', '-s -w', '-o', path.join(bin, 'etcd'), etcdModule], work, log);
}

function stagingVersion(kubernetes: string): string {
  return `v0.${kubernetes.split('.').slice(1).join('.')}`;
}

/** Runs one go command and answers with its standard output. Module proxy, caches and so on are the user's own settings. */
async function go(args: readonly string[], cwd: string, log?: (line: string) => void): Promise<string> {
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' };
  const child = spawn('go', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line);
    log?.(line);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const output = Buffer.concat(chunks).toString();
  // `go mod download -json` reports a failure on standard output.
  if (code !== 0)
    throw new Error([`go ${args.slice(0, 2).join(' ')} failed`, ...lines.slice(-5), output].join('\n').trim());
  return output;
}
