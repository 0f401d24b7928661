// The test suites of controller-runtime, compiled from its public Go module, with the files that they read.
import { cpSync } from 'node:fs';
import path from 'node:path';
import { go } from './go.ts';
import type { ProgramSet } from './programs.ts';

/** The packages whose suites use a cluster, without internal/controller, which hardly does and sometimes deadlocks. */
export const suites = [
  'builder',
  'cache',
  'client',
  'cluster',
  'controller',
  'controller/controllerutil',
  'handler',
  'internal/recorder',
  'manager',
  'manager/internal/integration',
  'reconcile',
  'source',
  'webhook',
] as const;

/** The program of a suite. */
export function suiteProgram(suite: string): string {
  return `${suite.replaceAll('/', '-')}.test`;
}

export const controllerRuntime: ProgramSet = {
  name: 'controller-runtime',
  title: 'the test suites of controller-runtime',
  versions: ['0.25.2'],
  programs: suites.map(suiteProgram),
  variable: 'OFFSHOOT_CONTROLLER_RUNTIME',
  advice: 'run `npm run real-cluster -- fetch` (needs Go)',
  async build({ work, bin, version, log }) {
    const module = `sigs.k8s.io/controller-runtime@v${version}`;
    const { Dir: source } = JSON.parse(await go(['mod', 'download', '-json', module], work)) as {
      readonly Dir: string;
    };
    // Suites read definitions and test data by relative paths.
    cpSync(path.join(source, 'pkg'), path.join(bin, 'pkg'), { recursive: true });
    cpSync(path.join(source, 'examples'), path.join(bin, 'examples'), { recursive: true });
    for (const suite of suites) {
      const out = path.join(bin, suiteProgram(suite));
      await go(['test', '-c', '-mod=mod', '-ldflags', '-s -w', '-o', out, `./pkg/${suite}`], source, log);
    }
  },
};
