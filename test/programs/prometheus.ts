// Prometheus, from its public Go module: it checks the alert rules and the queries of the Grafana dashboard.
import { goBuild, writeModule } from './go.ts';
import type { ProgramSet } from './programs.ts';

const MODULE = 'github.com/prometheus/prometheus';

export const prometheus: ProgramSet<'prometheus' | 'promtool'> = {
  name: 'prometheus',
  title: 'Prometheus',
  versions: ['3.15.0'],
  programs: ['prometheus', 'promtool'],
  variable: 'OFFSHOOT_PROMETHEUS_DIR',
  advice: 'run `npm run real-cluster -- fetch` (needs Go), or set OFFSHOOT_PROMETHEUS_DIR to a folder that has it',
  async build({ work, bin, version, log }) {
    // 3.15.0 is v0.315.0 as a module.
    const [major = '', minor = '', patch = ''] = version.split('.');
    writeModule(work, { go: '1.26.0', require: { [MODULE]: `v0.${major}${minor.padStart(2, '0')}.${patch}` } });
    // Leaves out service discovery, with its clients of all clouds.
    const tags = ['remove_all_sd'];
    const packages = [`${MODULE}/cmd/prometheus`, `${MODULE}/cmd/promtool`];
    await goBuild({ work, bin, packages, tags, log });
  },
};
