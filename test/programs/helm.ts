// Helm, from its public Go modules: the two major versions that people use.
import { goBuild, writeModule } from './go.ts';
import type { ProgramSet } from './programs.ts';

export const helm3 = helm('3.22.0');
export const helm4 = helm('4.3.1');

function helm(release: string): ProgramSet<'helm'> {
  const [major] = release.split('.');
  const module = `helm.sh/helm/v${major}`;
  return {
    name: `helm-${major}`,
    title: `Helm ${major}`,
    versions: [release],
    programs: ['helm'],
    variable: `OFFSHOOT_HELM_${major}`,
    advice: `run \`npm run real-cluster -- fetch\` (needs Go), or set OFFSHOOT_HELM_${major} to a folder that has it`,
    async build({ work, bin, version, log }) {
      writeModule(work, { go: '1.26.0', require: { [module]: `v${version}` } });
      const linked = [`-X ${module}/internal/version.version=v${version}`];
      await goBuild({ work, bin, packages: [`${module}/cmd/helm`], linked, log });
    },
  };
}
