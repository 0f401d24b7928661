// Runs the commands of a page on the real node as a reader would: in the folder of the npm package, with kubectl, Helm
// and offshoot in the PATH. The image that the page pushes is the one that the node already has.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { unpackPackage } from '../../scripts/unpack-package.ts';
import { containerd } from '../programs/containerd.ts';
import { kubernetes } from '../programs/kubernetes.ts';
import { programsOf } from '../programs/programs.ts';
import { missingLines } from '../support/code-blocks.ts';
import type { CodeBlock } from '../support/code-blocks.ts';
import { containerdSocket } from './addresses.ts';
import { offshootImage } from './images.ts';
import { enterCommand, enterNetworkCommand, innerKubeconfig } from './node.ts';

export interface Terminal {
  /** Runs the shell blocks of a page; resolves with the lines that the page shows as output but were not printed. */
  run(blocks: readonly CodeBlock[]): Promise<readonly string[]>;
  close(): void;
}

const DEADLINE_MS = 600_000;

export function openTerminal(node: { readonly dir: string }, helm: string): Terminal {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-terminal-'));
  const { folder } = unpackPackage(dir);
  const bin = path.join(dir, 'bin');
  mkdirSync(bin);
  symlinkSync(path.join(programsOf(kubernetes), 'kubectl'), path.join(bin, 'kubectl'));
  symlinkSync(helm, path.join(bin, 'helm'));
  const script = `#!/bin/sh\nexec '${process.execPath}' '${folder}/bin/offshoot.js' "$@"\n`;
  for (const name of ['offshoot', 'kubectl-offshoot']) writeFileSync(path.join(bin, name), script, { mode: 0o755 });
  const env = {
    HOME: dir,
    KUBECONFIG: innerKubeconfig(node.dir),
    PATH: `${bin}:${process.env['PATH']}`,
  };
  const [enter, ...args] = [...enterNetworkCommand(node.dir), 'bash', '-c'];

  const shell = (commands: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = { cwd: folder, env, timeout: DEADLINE_MS, maxBuffer: 2 ** 24 };
      execFile(enter, [...args, preludeFor(node.dir) + commands], options, (error, output) =>
        error === null ? resolve(output) : reject(new Error(`the commands failed: ${error.message}\n${output}`)),
      );
    });

  return {
    async run(blocks) {
      const commands = blocks.filter(({ language }) => language === 'sh');
      const parts = commands.map(({ place, code }) => `printf '${MARK}%s\\n' '${place}'\n${code}\n`);
      const outputs = (await shell(parts.join(''))).split(MARK).slice(1);
      return commands.flatMap((block, at) => missingLines(blocks, block, outputs[at] ?? ''));
    },
    close: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** Printed before the output of each block. */
const MARK = '\u0001';

/**
 * Replaces commands that cannot work here: the package is already unpacked and in the PATH, the image is built, and
 * instead of a registry there is the node itself.
 */
function preludeFor(dir: string): string {
  const ctr = [...enterCommand(dir), path.join(programsOf(containerd), 'ctr'), '-a', containerdSocket, '-n', 'k8s.io'];
  return `
exec 2>&1
set -euo pipefail
trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
npm() {
  case "$*" in
    install | 'install -g .' | 'run image '*) ;;
    *) command npm "$@" ;;
  esac
}
skopeo() {
  local target="\${@: -1}"
  ${ctr.join(' ')} images tag --force ${offshootImage} "\${target#docker://}"
}
`;
}
