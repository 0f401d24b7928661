// The programs of Istio, from its public Go module. The version string names the commit; the pins beside it are the
// releases that its own go.mod leads to, because some of the pre-releases in there are not published.
import { goBuild, writeModule } from './go.ts';
import type { Log, ProgramSet } from './programs.ts';

const commit = '0.0.0-20260827124520-eed52ebb66ad';
const pins = {
  'istio.io/api': 'v1.31.1',
  'istio.io/client-go': 'v1.31.1',
  'github.com/envoyproxy/go-control-plane/envoy': 'v1.39.0',
  'github.com/envoyproxy/go-control-plane/contrib': 'v1.36.1-0.20260729145720-a2d8c7492908',
};

/** istiod under its own name: what `test/mesh` runs. */
export const istiod: ProgramSet<'pilot-discovery'> = {
  name: 'istiod',
  title: 'istiod',
  versions: [commit],
  programs: ['pilot-discovery'],
  variable: 'OFFSHOOT_ISTIO_PROGRAMS',
  advice: 'run `npm run real-mesh -- fetch` (needs Go), or set OFFSHOOT_ISTIO_PROGRAMS to a folder that has it',
  build: (options) => buildIstio(options, ['pilot/cmd/pilot-discovery']),
};

/** What an installation of Istio on the real node needs besides. */
export const istioNode: ProgramSet<'istioctl' | 'pilot-agent'> = {
  name: 'istio-node',
  title: 'istioctl and pilot-agent',
  versions: [commit],
  programs: ['istioctl', 'pilot-agent'],
  variable: 'OFFSHOOT_ISTIO_PROGRAMS',
  advice: 'run `npm run real-node -- fetch` (needs Go), or set OFFSHOOT_ISTIO_PROGRAMS to a folder that has them',
  build: (options) => buildIstio(options, ['istioctl/cmd/istioctl', 'pilot/cmd/pilot-agent']),
};

async function buildIstio(
  { work, bin, log }: { readonly work: string; readonly bin: string; readonly log: Log },
  commands: readonly string[],
): Promise<void> {
  writeModule(work, { go: '1.26.0', require: { 'istio.io/istio': `v${commit}`, ...pins } });
  await goBuild({ work, bin, packages: commands.map((command) => `istio.io/istio/${command}`), log });
}
