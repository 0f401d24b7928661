// containerd, its runc shim and its command line, from their public Go module.
import { goBuild, writeModule } from './go.ts';
import type { ProgramSet } from './programs.ts';

export const containerd: ProgramSet<'containerd' | 'containerd-shim-runc-v2' | 'ctr'> = {
  name: 'containerd',
  title: 'containerd',
  versions: ['2.4.2'],
  programs: ['containerd', 'containerd-shim-runc-v2', 'ctr'],
  variable: 'OFFSHOOT_NODE_PROGRAMS',
  advice: 'run `npm run real-node -- fetch` (needs Go)',
  async build({ work, bin, version, log }) {
    const module = 'github.com/containerd/containerd/v2';
    writeModule(work, { go: '1.26.0', require: { [module]: `v${version}` } });
    const packages = this.programs.map((name) => `${module}/cmd/${name}`);
    // Leaves out snapshotters that are not used here and need further libraries.
    const tags = ['no_btrfs', 'no_devmapper', 'no_zfs'];
    await goBuild({ work, bin, packages, tags, linked: [`-X ${module}/version.Version=${version}`], log });
  },
};
