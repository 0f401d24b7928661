// The versions of Helm that the chart is tested with.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from '../programs/command.ts';
import { helm3, helm4 } from '../programs/helm.ts';
import { findPrograms } from '../programs/programs.ts';
import { describeRequiring } from '../support/requirements.ts';
import type { Requirement } from '../support/requirements.ts';

export interface Helm {
  readonly title: string;
  readonly requirement: Requirement;
  readonly program: string;
  /** Resolves with the standard output. */
  readonly run: (args: readonly string[]) => Promise<string>;
  /** Defines a suite that is skipped where this Helm is missing. */
  readonly describeIt: (name: string, define: () => void) => void;
}

export const helms: readonly Helm[] = [helm3, helm4].map((set) => {
  const found = findPrograms(set);
  const requirement = {
    what: set.title,
    missing: 'missing' in found ? found.missing : undefined,
    variable: 'OFFSHOOT_HELM',
  };
  const program = path.join('dir' in found ? found.dir : '', 'helm');
  return {
    title: set.title,
    requirement,
    program,
    run: async (args) => {
      // Without these, Helm would use the caches and settings of the user who runs the tests.
      const home = mkdtempSync(path.join(tmpdir(), 'offshoot-helm-'));
      const env = { HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
      try {
        return await run(program, args, { cwd: home, env });
      } finally {
        rmSync(home, { recursive: true, force: true });
      }
    },
    describeIt: (name, define) => describeRequiring(name, [requirement], define),
  };
});
