// The programs of Istio, from its public Go module.
import { chmodSync, copyFileSync } from 'node:fs';
import path from 'node:path';
import { go, goBuild, writeModule } from './go.ts';
import type { Log, ProgramSet } from './programs.ts';

/** The release that this commit belongs to; istiod and proxies report it. */
export const istioVersion = '1.31.0';
const commit = '20260827124520-eed52ebb66ad';

/** Releases that replace pre-releases in the commit's go.mod, because not all of those are published. */
const pins = {
  'istio.io/api': 'v1.31.1',
  'istio.io/client-go': 'v1.31.1',
  'github.com/envoyproxy/go-control-plane/envoy': 'v1.39.0',
  'github.com/envoyproxy/go-control-plane/contrib': 'v1.36.1-0.20260729145720-a2d8c7492908',
};

/** istiod, for `test/mesh`. */
export const istiod: ProgramSet<'pilot-discovery'> = {
  name: 'istiod',
  title: 'istiod',
  versions: [`${istioVersion}-${commit}`],
  programs: ['pilot-discovery'],
  variable: 'OFFSHOOT_ISTIO_PROGRAMS',
  advice: 'run `npm run real-mesh -- fetch` (needs Go), or set OFFSHOOT_ISTIO_PROGRAMS to a folder that has it',
  build: (options) => buildIstio(options, ['pilot/cmd/pilot-discovery']),
};

/** The other programs for an installation of Istio on the real node. */
export const istioNode: ProgramSet<'istioctl' | 'pilot-agent' | 'envoy_bootstrap.json'> = {
  name: 'istio-node',
  title: 'istioctl and pilot-agent',
  versions: [`${istioVersion}-${commit}`],
  programs: ['istioctl', 'pilot-agent', 'envoy_bootstrap.json'],
  variable: 'OFFSHOOT_ISTIO_PROGRAMS',
  advice: 'run `npm run real-node -- fetch` (needs Go), or set OFFSHOOT_ISTIO_PROGRAMS to a folder that has them',
  async build(options) {
    await buildIstio(options, ['istioctl/cmd/istioctl', 'pilot/cmd/pilot-agent']);
    const source = await go(['list', '-m', '-f', '{{.Dir}}', 'istio.io/istio'], options.work);
    const bootstrap = path.join(options.bin, 'envoy_bootstrap.json');
    copyFileSync(path.join(source.trim(), 'tools/packaging/common/envoy_bootstrap.json'), bootstrap);
    chmodSync(bootstrap, 0o755); // findPrograms only finds executable files
  },
};

async function buildIstio(
  { work, bin, log }: { readonly work: string; readonly bin: string; readonly log: Log },
  commands: readonly string[],
): Promise<void> {
  writeModule(work, { go: '1.26.0', require: { 'istio.io/istio': `v0.0.0-${commit}`, ...pins } });
  const packages = commands.map((command) => `istio.io/istio/${command}`);
  await goBuild({ work, bin, packages, linked: [`-X istio.io/istio/pkg/version.buildVersion=${istioVersion}`], log });
}
