// The Helms that the chart is tried with.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from '../programs/command.ts';
import { helm3, helm4 } from '../programs/helm.ts';
import { findPrograms } from '../programs/programs.ts';
import { describeNeeding } from '../support/needs.ts';
import type { Need } from '../support/needs.ts';

export interface Helm {
  readonly title: string;
  readonly need: Need;
  readonly program: string;
  /** Answers with the standard output. */
  readonly run: (args: readonly string[]) => Promise<string>;
  /** A suite that is skipped, visibly, where this Helm is not. */
  readonly describeIt: (name: string, define: () => void) => void;
}

export const helms: readonly Helm[] = [helm3, helm4].map((set) => {
  const found = findPrograms(set);
  const need = { what: set.title, missing: 'missing' in found ? found.missing : undefined, variable: 'OFFSHOOT_HELM' };
  const program = path.join('dir' in found ? found.dir : '', 'helm');
  return {
    title: set.title,
    need,
    program,
    run: async (args) => {
      // Its own caches and settings would be those of whoever runs the tests.
      const home = mkdtempSync(path.join(tmpdir(), 'offshoot-helm-'));
      const env = { HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
      try {
        return await run(program, args, { cwd: home, env });
      } finally {
        rmSync(home, { recursive: true, force: true });
      }
    },
    describeIt: (name, define) => describeNeeding(name, [need], define),
  };
});
