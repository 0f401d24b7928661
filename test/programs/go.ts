// Builds programs from public Go modules, with the module proxy and caches of the user's settings.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { run } from './command.ts';
import type { Log } from './programs.ts';

const noGo = 'no `go` on the PATH: install Go, or name a folder that has the programs';

/** Runs a go command; resolves with its standard output. */
export async function go(args: readonly string[], cwd: string, log?: Log): Promise<string> {
  try {
    return await run('go', args, {
      cwd,
      env: { CGO_ENABLED: '0', GOWORK: 'off' },
      ...(log === undefined ? {} : { log }),
    });
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') throw new Error(noGo, { cause: error });
    throw error;
  }
}

export interface GoModule {
  /** The Go version of go.mod. */
  readonly go: string;
  readonly require: Readonly<Record<string, string>>;
  readonly replace?: Readonly<Record<string, string>>;
}

/** Makes `work` a module that requires others, so that their commands can be built there. */
export function writeModule(work: string, { go: goVersion, require, replace = {} }: GoModule): void {
  writeFileSync(
    path.join(work, 'go.mod'),
    [
      'module offshoot.dev/programs',
      `go ${goVersion}`,
      ...Object.entries(require).map(([name, version]) => `require ${name} ${version}`),
      ...Object.entries(replace).map(([name, version]) => `replace ${name} => ${name} ${version}`),
      '',
    ].join('\n'),
  );
}

export interface GoBuild {
  readonly work: string;
  readonly bin: string;
  readonly packages: readonly string[];
  readonly tags?: readonly string[];
  /** Additional linker flags. */
  readonly linked?: readonly string[];
  readonly log: Log;
}

/** Builds commands into `bin`, each under the last part of its package's name. */
export async function goBuild({ work, bin, packages, tags = [], linked = [], log }: GoBuild): Promise<void> {
  // -mod=mod lets go complete go.mod and go.sum, which start out without the indirect modules.
  const flags = ['-mod=mod', '-trimpath', `-tags=${tags.join(',')}`, '-ldflags', ['-s -w', ...linked].join(' ')];
  await go(['build', ...flags, '-o', `${bin}${path.sep}`, ...packages], work, log);
}
